//! The disk, the client processes, the real hooks, and a model of who works on which job.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::CLIENTS;
use base::clock::Time;
use base::env::Env;
use base::paths::Places;
use guard::files::jobs::{Asker, all, holder, read, record, sealed_path};
use guard::files::sealing;
use guard::hook::boundary_flow::Opening;
use guard::hook::facts::Facts;
use guard::hook::{self, Program, Role};
use guard::session::reach::{Reach, Way};
use guard::settings::Settings;
use notes::job::{Record, State};

/// No terminal, and no command that a person could type.
const NO_PROGRAM: Program = Program {
    find_terminals: |_, _| Reach { tmux: Way::Shut(String::new()), x11: Way::Shut(String::new()) },
    answer_command: |_, _, _| None,
    on_session_start: |_, _| None,
    run_verbs: |_, _, _| Vec::new(),
};

pub(super) struct Client {
    pub(super) process: Child,
    pub(super) session: String,
    /// The boundary that its last verb requested.
    pub(super) asked: Option<Opening>,
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The disk and the clients, with a model of what must be true.
pub(super) struct World {
    pub(super) dir: tempfile::TempDir,
    pub(super) places: Places,
    pub(super) clients: Vec<Client>,
    sessions: usize,
    pub(super) clock: Time,
    /// The client process that works on each job.
    holds: BTreeMap<String, u32>,
    /// Sealed files by inode, because a renamed folder keeps inodes.
    sealed: BTreeMap<u64, Vec<u8>>,
    pub(super) notes: Vec<String>,
}

impl World {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("app");
        std::fs::create_dir(&project).unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, &project).unwrap();
        std::fs::create_dir_all(places.user_settings.parent().unwrap()).unwrap();
        // A carrier that is unusable here, because the sequence itself decides what a boundary
        // does.
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

    pub(super) fn next_session(&mut self) -> String {
        self.sessions += 1;
        format!("s{}", self.sessions)
    }

    pub(super) fn env(&self, at: usize) -> Env {
        let pid = self.clients[at].process.id().to_string();
        Env::from_pairs([
            ("HOME", self.dir.path().to_str().unwrap()),
            ("CLAUDE_PROJECT_DIR", self.places.project.to_str().unwrap()),
            ("CLAUDE_PID", &pid),
        ])
    }

    pub(super) fn hook(&mut self, at: usize, event: &str, more: &Value) {
        let mut payload = json!({
            "session_id": self.clients[at].session,
            "transcript_path": self.dir.path().join("none.jsonl"),
            "cwd": self.places.project,
            "permission_mode": "default",
            "hook_event_name": event,
        });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        hook::run(
            Role::Main,
            payload.to_string().as_bytes(),
            &self.env(at),
            self.clock,
            NO_PROGRAM,
        );
        // A resumed session takes its job again.
        let pid = self.clients[at].process.id();
        for job in all(&self.places) {
            if held_by(&self.places, &job) == Some(pid) {
                self.takes(at, &job);
            }
        }
    }

    pub(super) fn hooks(&mut self, at: usize) {
        let ran = json!({
            "tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "brain-guard job"},
            "tool_response": {"stdout": "", "stderr": ""},
        });
        self.hook(at, "PostToolUse", &ran);
    }

    pub(super) fn asker<T>(&self, at: usize, ask: impl FnOnce(&Asker) -> T) -> T {
        let env = self.env(at);
        let id = &self.clients[at].session;
        let facts = Facts::for_session(&env, self.clock, &self.places.project, id).unwrap();
        ask(&facts.asker())
    }

    pub(super) fn facts<T>(&self, at: usize, run: impl FnOnce(&mut Facts) -> T) -> T {
        let env = self.env(at);
        let id = &self.clients[at].session;
        run(&mut Facts::for_session(&env, self.clock, &self.places.project, id).unwrap())
    }

    /// The job that a client's session works on.
    pub(super) fn own(&self, at: usize) -> String {
        // A method is not general enough here.
        self.asker(at, |asker| {
            let job: String = asker.job();
            job
        })
    }

    pub(super) fn records(&self) -> BTreeMap<String, Record> {
        all(&self.places).into_iter().map(|job| (job.clone(), record(&self.places, &job))).collect()
    }

    /// The client works on a job from now on, and no other live client may.
    pub(super) fn takes(&mut self, at: usize, job: &str) {
        let me = self.clients[at].process.id();
        let before = self.holds.insert(job.to_owned(), me);
        let live = |pid: &u32| self.clients.iter().any(|client| client.process.id() == *pid);
        let other = before.filter(|pid| *pid != me).filter(live);
        assert_eq!(other, None, "{job} is worked on by another client that lives");
    }

    pub(super) fn leaves(&mut self, at: usize, gone: impl Fn(&str) -> bool) {
        let me = self.clients[at].process.id();
        self.holds.retain(|job, pid| *pid != me || !gone(job));
    }

    /// The invariants after every step.
    pub(super) fn check(&mut self) {
        let settings = Settings::default();
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

pub(super) fn client(session: String) -> Client {
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
