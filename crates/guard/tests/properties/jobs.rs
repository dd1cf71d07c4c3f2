//! Tests jobs with random sequences of verbs, sessions, clears and kills, also between two effects
//! of a verb. Disk, client processes and hooks are real.
#![allow(
    clippy::disallowed_methods,
    reason = "the clients are processes, and what lies on the disk is read"
)]

mod world;

use proptest::prelude::*;
use serde_json::json;

use base::atomic;
use guard::boundary::{Carrier, Delivery, Step};
use guard::files::jobs::{Asker, record, record_summary, steps};
use guard::files::sealing::{self, FromAgent, Outcome, Writer};
use guard::files::{boundary, state};
use guard::hook::boundary_flow::Opening;
use guard::hook::facts::Facts;
use guard::hook::jobs::{begin_next_work, open_notes};
use notes::compaction;
use notes::job::State;
use notes::job::transition::{Done, Effect, Transition, Verb};
use world::{World, client};

const CLIENTS: usize = 3;
const NAMES: [&str; 3] = ["parser", "docs", "Parser"];

#[derive(Debug, Clone)]
enum Op {
    /// A verb that stops after `limit` effects.
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
    /// The boundary that was requested, or the user's own `/clear`.
    Clear,
    /// The client is killed. Another one starts, or resumes its session.
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

impl World {
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
                state::update(&self.places, &id, |s| s.asked = false).unwrap();
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
        let (before, own) = (self.records(), self.own(at));
        let moved = self.asker(at, |asker| steps(asker, verb, name, limit)).unwrap();
        let Ok(moved) = moved else {
            assert_eq!(self.records(), before, "a refusal changes nothing");
            return;
        };
        self.leaves(at, |job| job != own);
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
            }
        }
        if limit < moved.effects.len() {
            return;
        }
        self.facts(at, |facts| begin_next_work(facts, &moved.next_work));
        if verb == Verb::Pause {
            assert_eq!(moved.crosses, None, "a pause asks for no boundary");
        }
        if moved.crosses.is_some() || verb == Verb::Pause {
            self.clients[at].asked = self.opening(&moved);
        }
    }

    /// The boundary that a verb requested, as the hooks would open it.
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
        Some(Opening {
            job,
            delivery,
            version,
            text,
            clear: Some(true),
            authored: true,
            not_before: None,
        })
    }

    /// Writes a note like the verb does.
    fn write(&mut self, at: usize) -> Option<String> {
        let note = format!("note number{} by this session", self.notes.len());
        let job = self.facts(at, |facts| {
            let open = match open_notes(facts).unwrap() {
                Ok((open, _)) => open,
                Err(refusal) => {
                    let job = facts.asker().job();
                    assert_eq!(record(&facts.places, &job).state, State::Completed, "{refusal}");
                    return None;
                }
            };
            let shape = &facts.settings.file.shape;
            let text = compaction::append(&open.text, shape, "Open Threads", &note).unwrap();
            atomic::write(&facts.places.compaction(&open.job), text.as_bytes()).unwrap();
            Some(open.job)
        })?;
        self.notes.push(note);
        self.takes(at, &job);
        Some(job)
    }

    fn seal(&mut self, at: usize, summary: bool) {
        let Some(job) = self.write(at) else { return };
        let text = format!("what holds after {} notes", self.notes.len());
        let agent =
            summary.then(|| FromAgent { summary: Some(text.as_str()), ..FromAgent::default() });
        self.asker(at, |asker| {
            let Asker { places, session, settings, now, id, .. } = asker;
            let sealed =
                sealing::run(places, &job, Writer { id, session }, settings, agent, *now, false)
                    .unwrap();
            let Outcome::Sealed(sealed, _) = sealed else { panic!("not sealed: {sealed:?}") };
            if agent.is_some() {
                record_summary(places, &job, id, sealed.report.version).unwrap();
            }
        });
    }

    fn clear(&mut self, at: usize) {
        let parent = self.clients[at].session.clone();
        if let Some(opening) = self.clients[at].asked.take() {
            self.hooks(at);
            let env = self.env(at);
            let mut facts =
                Facts::for_session(&env, self.clock, &self.places.project, &parent).unwrap();
            let token = opening.token(&facts, Carrier::Manual);
            boundary::create(&self.places, &token).unwrap();
            facts.update(|s| s.token = Some(token.id.clone()));
        }
        self.clients[at].session = self.next_session();
        self.hook(at, "SessionStart", &json!({"source": "clear"}));
        let job = self.own(at);
        self.leaves(at, |held| held != job);
        let crossed = state::load(&self.places, &self.clients[at].session);
        let token = crossed.unwrap().unwrap().token;
        if let Some(token) = token.and_then(|id| boundary::load(&self.places, &id).unwrap()) {
            assert!(token.delivery != Delivery::Sealed, "{token:?}");
            boundary::update(&self.places, &token.id, |t| {
                t.advance(Step::Acknowledged, self.clock)
            })
            .unwrap();
        }
    }
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
