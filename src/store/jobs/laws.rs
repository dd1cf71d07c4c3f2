//! What holds of jobs whatever happens: random sequences of verbs, sessions, clears,
//! and kills of clients and of verbs between two effects, on a real disk with real
//! processes as clients and the real hooks in between.
#![allow(
    clippy::disallowed_methods,
    reason = "the clients are processes, and what lies on the disk is read"
)]

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::moves::steps;
use super::*;
use crate::boundary::{Carrier, Delivery};
use crate::clock::Time;
use crate::env::Env;
use crate::hook::crossing::Opening;
use crate::hook::facts::Facts;
use crate::hook::{self, Role};
use crate::job::transition::{Done, Effect, Transition, Verb};
use crate::store::requests::Request;
use crate::store::sealing::{self, Outcome, Writer};
use crate::store::{boundary, requests};

const CLIENTS: usize = 3;
const NAMES: [&str; 3] = ["parser", "docs", "Parser"];

#[derive(Debug, Clone)]
enum Op {
    /// A verb, ended after so many effects.
    Job {
        verb: u8,
        name: Option<usize>,
        limit: usize,
    },
    Append,
    Seal {
        summary: bool,
    },
    /// The hook after the agent's shell call.
    Hooks,
    Prompt,
    TurnEnds,
    /// The boundary that was asked for, or a `/clear` of the user's.
    Clear,
    /// The client is killed; another one begins, or goes on with its session.
    Dies {
        resumed: bool,
    },
}

fn op() -> impl Strategy<Value = Op> {
    let name = proptest::option::of(0..NAMES.len());
    let limit = prop_oneof![4 => Just(usize::MAX), 1 => 0usize..4];
    prop_oneof![
        8 => (0u8..8, name, limit).prop_map(|(verb, name, limit)| Op::Job { verb, name, limit }),
        4 => Just(Op::Append),
        3 => any::<bool>().prop_map(|summary| Op::Seal { summary }),
        5 => Just(Op::Hooks),
        2 => Just(Op::Prompt),
        1 => Just(Op::TurnEnds),
        2 => Just(Op::Clear),
        1 => any::<bool>().prop_map(|resumed| Op::Dies { resumed }),
    ]
}

struct Client {
    process: Child,
    session: String,
    /// The boundary its last verb asked for.
    asked: Option<Opening>,
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The disk, the clients, and what must be true of them by our own books.
struct World {
    dir: tempfile::TempDir,
    places: Places,
    clients: Vec<Client>,
    sessions: usize,
    clock: Time,
    /// Which client's process works on which job.
    holds: BTreeMap<String, u32>,
    /// Sealed files by inode: a folder that is renamed keeps them.
    sealed: BTreeMap<u64, Vec<u8>>,
    notes: Vec<String>,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("app");
        std::fs::create_dir(&project).unwrap();
        let env = Env::of([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::of(&env, &project).unwrap();
        std::fs::create_dir_all(places.user_settings.parent().unwrap()).unwrap();
        // None that could be used here: what a boundary does, the sequence itself decides.
        std::fs::write(&places.user_settings, r#"{"boundary": {"carrier": "mod"}}"#).unwrap();
        let clock = "2026-01-01T00:00:00Z".parse().unwrap();
        let mut world = Self {
            dir,
            places,
            clients: Vec::new(),
            sessions: 0,
            clock,
            holds: BTreeMap::new(),
            sealed: BTreeMap::new(),
            notes: Vec::new(),
        };
        for at in 0..CLIENTS {
            let session = world.next_session();
            world.clients.push(client(session));
            world.hook(at, "SessionStart", &json!({"source": "startup"}));
        }
        world
    }

    fn next_session(&mut self) -> String {
        self.sessions += 1;
        format!("s{}", self.sessions)
    }

    fn env(&self, at: usize) -> Env {
        let pid = self.clients[at].process.id().to_string();
        Env::of([
            ("HOME", self.dir.path().to_str().unwrap()),
            ("CLAUDE_PROJECT_DIR", self.places.project.to_str().unwrap()),
            ("CLAUDE_PID", &pid),
        ])
    }

    fn hook(&mut self, at: usize, event: &str, more: &Value) {
        let mut payload = json!({
            "session_id": self.clients[at].session,
            "transcript_path": self.dir.path().join("none.jsonl"),
            "cwd": self.places.project,
            "permission_mode": "default",
            "hook_event_name": event,
        });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        hook::run(Role::Main, payload.to_string().as_bytes(), &self.env(at), self.clock);
        // A session that goes on takes its job again.
        let pid = self.clients[at].process.id();
        for job in all(&self.places) {
            if held_by(&self.places, &job) == Some(pid) {
                self.takes(at, &job);
            }
        }
    }

    fn hooks(&mut self, at: usize) {
        let ran = json!({
            "tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "brain-guard job"},
            "tool_response": {"stdout": "", "stderr": ""},
        });
        self.hook(at, "PostToolUse", &ran);
    }

    fn asker<T>(&self, at: usize, ask: impl FnOnce(&Asker) -> T) -> T {
        let env = self.env(at);
        let id = &self.clients[at].session;
        let facts = Facts::for_session(&env, self.clock, &self.places.project, id).unwrap();
        ask(&facts.asker())
    }

    /// A client works on a job from here on: nobody else who lives may.
    fn takes(&mut self, at: usize, job: &str) {
        let me = self.clients[at].process.id();
        let before = self.holds.insert(job.to_owned(), me);
        let live = |pid: &u32| self.clients.iter().any(|client| client.process.id() == *pid);
        let other = before.filter(|pid| *pid != me).filter(live);
        assert_eq!(other, None, "{job} is worked on by another client that lives");
    }

    fn leaves(&mut self, at: usize, gone: impl Fn(&str) -> bool) {
        let me = self.clients[at].process.id();
        self.holds.retain(|job, pid| *pid != me || !gone(job));
    }

    fn play(&mut self, at: usize, op: &Op) {
        self.clock += chrono::Duration::minutes(3);
        match op {
            Op::Job { verb, name, limit } => self.job(at, *verb, *name, *limit),
            Op::Append => {
                self.write(at);
            }
            Op::Seal { summary } => self.seal(at, *summary),
            Op::Hooks => self.hooks(at),
            Op::Prompt => {
                self.hook(at, "UserPromptSubmit", &json!({"prompt": "something else now"}));
            }
            Op::TurnEnds => {
                self.hook(at, "Stop", &json!({"background_tasks": []}));
                let id = self.clients[at].session.clone();
                crate::store::state::update(&self.places, &id, |s| s.asked = false).unwrap();
            }
            Op::Clear => self.clear(at),
            Op::Dies { resumed } => {
                let session =
                    if *resumed { self.clients[at].session.clone() } else { self.next_session() };
                self.clients[at] = client(session);
                let source = if *resumed { "resume" } else { "startup" };
                self.hook(at, "SessionStart", &json!({ "source": source }));
            }
        }
    }

    fn job(&mut self, at: usize, verb: u8, name: Option<usize>, limit: usize) {
        let name = name.map(|index| NAMES[index]);
        let (verb, name) = match verb {
            0..=2 => (Verb::Focus { no_clear: verb == 2 }, Some(name.unwrap_or("docs"))),
            3 | 4 => (Verb::Resume, name),
            5 => (Verb::Pause, None),
            _ => (Verb::Complete, None),
        };
        let before = self.records();
        let moved = self.asker(at, |asker| steps(asker, verb, name, limit)).unwrap();
        let Ok(moved) = moved else {
            assert_eq!(self.records(), before, "a refusal changes nothing");
            return;
        };
        for effect in moved.effects.iter().take(limit) {
            match effect {
                Effect::Create(job) | Effect::Take(job) => self.takes(at, job),
                Effect::Adopt { from, to } => {
                    self.leaves(at, |job| job == from);
                    self.takes(at, to);
                }
                Effect::Leave { job, .. } | Effect::Close(job) => {
                    self.leaves(at, |held| held == job);
                }
                Effect::Ask(_) => {}
            }
        }
        if limit < moved.effects.len() {
            return;
        }
        let own = self.asker(at, |asker| asker.job());
        self.leaves(at, |job| Some(job) != own.as_deref());
        if verb == Verb::Pause {
            assert_eq!(moved.crosses, None, "a pause asks for no boundary");
        }
        if moved.crosses.is_some() || verb == Verb::Pause {
            self.clients[at].asked = self.opening(&moved);
        }
    }

    /// The boundary that a verb asked for, as the hooks would open it.
    fn opening(&self, moved: &Transition) -> Option<Opening> {
        let delivery = moved.crosses?;
        let (job, version) = match &moved.done {
            Done::Completed { job, version } => (job, *version),
            Done::Taken { job, .. } | Done::Created(job) => (job, 0),
            _ => panic!("{moved:?} asks for a boundary"),
        };
        let text = self.dir.path().join("crosses.md");
        std::fs::write(&text, "- what crosses\n").unwrap();
        let text = text.display().to_string();
        let job = job.clone();
        Some(Opening { job, delivery, version, text, clear: Some(true), authored: true })
    }

    /// A note, as the verb writes it.
    fn write(&mut self, at: usize) -> Option<String> {
        let note = format!("note number{} by this session", self.notes.len());
        let job = self.asker(at, |asker| {
            let open = match open(asker).unwrap() {
                Ok(open) => open,
                Err(refusal) => {
                    let job = asker.job().unwrap();
                    assert_eq!(record(asker.places, &job).state, State::Completed, "{refusal}");
                    return None;
                }
            };
            let shape = &asker.settings.file.shape;
            let text = compaction::append(&open.text, shape, "Open Threads", &note).unwrap();
            atomic::write(&asker.places.compaction(&open.job), text.as_bytes()).unwrap();
            Some(open.job)
        })?;
        self.notes.push(note);
        self.takes(at, &job);
        Some(job)
    }

    fn seal(&mut self, at: usize, summary: bool) {
        let Some(job) = self.write(at) else { return };
        let text = format!("what holds after {} notes", self.notes.len());
        let summary = summary.then_some(text.as_str());
        self.asker(at, |asker| {
            let Asker { places, session, settings, now, id, .. } = asker;
            let sealed =
                sealing::run(places, &job, Writer { id, session }, settings, summary, *now, false)
                    .unwrap();
            let Outcome::Sealed(sealed, _) = sealed else { panic!("not sealed: {sealed:?}") };
            let (version, at) = (sealed.report.version, *now);
            if summary.is_some() {
                summed(places, &job, id, version).unwrap();
            }
            let request =
                Request::Seal { job: job.clone(), version, clear: None, authored: true, at };
            requests::leave(places, id, &request).unwrap();
        });
    }

    fn clear(&mut self, at: usize) {
        let parent = self.clients[at].session.clone();
        if let Some(opening) = self.clients[at].asked.take() {
            self.hooks(at);
            let env = self.env(at);
            let facts =
                Facts::for_session(&env, self.clock, &self.places.project, &parent).unwrap();
            let token = opening.token(&facts, Carrier::Manual);
            boundary::create(&self.places, &token).unwrap();
            facts.update(|s| s.token = Some(token.id.clone()));
        }
        self.clients[at].session = self.next_session();
        self.hook(at, "SessionStart", &json!({"source": "clear"}));
        let job = self.asker(at, |asker| asker.job());
        self.leaves(at, |held| Some(held) != job.as_deref());
        let crossed = crate::store::state::load(&self.places, &self.clients[at].session);
        let token = crossed.unwrap().unwrap().token;
        if let Some(token) = token.and_then(|id| boundary::load(&self.places, &id).unwrap()) {
            assert!(token.delivery != Delivery::Sealed, "{token:?}");
            boundary::update(&self.places, &token.id, |t| {
                t.advance(crate::boundary::Step::Acknowledged, self.clock)
            })
            .unwrap();
        }
    }

    fn records(&self) -> BTreeMap<String, Record> {
        all(&self.places).into_iter().map(|job| (job.clone(), record(&self.places, &job))).collect()
    }

    /// What must hold after every step.
    fn check(&mut self) {
        let settings = crate::settings::Settings::default();
        let mut texts = String::new();
        for job in all(&self.places) {
            let live = |pid: &&u32| self.clients.iter().any(|c| c.process.id() == **pid);
            let books = self.holds.get(&job).filter(live).copied();
            assert_eq!(held_by(&self.places, &job), books, "who works on {job}");
            let text = read(&self.places, &job).unwrap().unwrap_or_default();
            if record(&self.places, &job).state == State::Completed {
                let version = sealing::fresh_version(&self.places, &job, &settings);
                let version = version.unwrap_or_else(|| panic!("{job} is completed, not sealed"));
                let path = sealed_path(&self.places, &job, version);
                assert!(path.exists(), "{job} has no version {version}");
            }
            texts += &text;
            self.read_sealed(&job, &mut texts);
        }
        let on_disk: BTreeMap<u64, Vec<u8>> = sealed_files(&self.places);
        for (inode, bytes) in &self.sealed {
            assert_eq!(on_disk.get(inode), Some(bytes), "a sealed file is changed or gone");
        }
        self.sealed = on_disk;
        for note in &self.notes {
            assert!(texts.contains(note.as_str()), "{note} is lost");
        }
    }

    fn read_sealed(&self, job: &str, texts: &mut String) {
        let dir = self.places.job(job).join("sealed");
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            *texts += &std::fs::read_to_string(entry.path()).unwrap();
        }
    }
}

fn client(session: String) -> Client {
    let process = Command::new("/bin/sleep")
        .arg("600")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    Client { process, session, asked: None }
}

fn held_by(places: &Places, job: &str) -> Option<u32> {
    holder(places, job).and_then(|holder| holder.client).map(|client| client.pid)
}

fn sealed_files(places: &Places) -> BTreeMap<u64, Vec<u8>> {
    let files = |job: String| {
        let dir = places.job(&job).join("sealed");
        let paths = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
        paths.collect::<Vec<PathBuf>>()
    };
    let read = |path: PathBuf| (fs::metadata(&path).unwrap().ino(), std::fs::read(&path).unwrap());
    all(places).into_iter().flat_map(files).map(read).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_job_has_one_live_holder_and_closes_sealed(
        ops in proptest::collection::vec((0..CLIENTS, op()), 1..40),
    ) {
        let mut world = World::new();
        for (at, op) in &ops {
            world.play(*at, op);
            world.check();
        }
    }
}
