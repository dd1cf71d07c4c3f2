//! Random operations, undos and redos on a running session. After each switch, the client sends what
//! a fresh process sends when it resumes the session, each prompt is there or in a line of a table,
//! the draft is in the box, and the session before is as it was.
//!
//! `./test --long` plays 50 sessions instead of five.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::block::{Block, blocks_of_request};
use super::is_long;
use super::live::id;
use super::pairs::{has_whole_pairs, reference, rounds};
use super::played::guard;
use crate::support::client::{self, Tui};
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

const SWITCHES: usize = 8;
/// Rounds before the first operation.
const ROUNDS: usize = 4;
const DRAFT: &str = "half a thought";

pub(super) fn asked(text: &str) -> Option<&str> {
    text.strip_prefix("read part ")
}

pub(super) fn end_of(part: &str) -> String {
    format!("part {part} is read to its end")
}

/// An agent that reads something for each prompt and says that it has.
fn agent(request: &Request) -> Reply {
    let texts = request.user_texts();
    let part = texts.iter().rev().find_map(|text| asked(text)).unwrap_or("?").to_owned();
    let reply = match asked(request.prompt()) {
        Some(part) if request.tool_results().is_empty() => {
            let input = json!({
                "command": format!("for i in $(seq 1 60); do echo \"part {part}, line $i of many\"; done"),
                "description": format!("Read part {part}"),
            });
            Reply::thinking(format!("where is part {part}?")).and_tool("Bash", input)
        }
        _ => Reply::text(end_of(&part)),
    };
    reply.tokens(60_000)
}

/// A reproducible sequence of choices.
pub(super) struct Dice(pub u64);

impl Dice {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Operation {
    Slim,
    Before,
    Engagement,
    Edit,
    Extract,
    Split,
    Undo,
    Redo,
}

const ALL: [Operation; 8] = [
    Operation::Slim,
    Operation::Before,
    Operation::Engagement,
    Operation::Edit,
    Operation::Extract,
    Operation::Split,
    Operation::Undo,
    Operation::Redo,
];

/// What is known of a session.
#[derive(Clone, Default)]
struct Known {
    made_of: Option<String>,
    /// The parts that were asked for in it, or in the session it was made of.
    parts: Vec<String>,
}

struct Walk {
    world: World,
    tui: Tui,
    dice: Dice,
    known: BTreeMap<String, Known>,
    current: String,
    /// The session that the last undo left.
    undone: Option<String>,
    next_part: usize,
    done: Vec<Operation>,
}

impl Walk {
    fn begin(version: &str, seed: u64) -> Self {
        let world = World::build().client(version).agent(agent).start();
        let tui = world.tui(&[]);
        let mut walk = Self {
            world,
            tui,
            dice: Dice(seed),
            known: BTreeMap::new(),
            current: String::new(),
            undone: None,
            next_part: 1,
            done: Vec::new(),
        };
        for _ in 0..ROUNDS {
            let request = walk.ask();
            walk.current = request.session.clone().expect("a session");
        }
        walk
    }

    /// Asks for the next part, and returns the first request for it.
    fn ask(&mut self) -> std::sync::Arc<Request> {
        let before = self.world.mock.main().len();
        let part = self.next_part.to_string();
        self.next_part += 1;
        self.tui.prompt(&format!("read part {part}"));
        self.world.mock.wait_main(before + 2);
        self.tui.wait_idle();
        let request = self.world.mock.main()[before].clone();
        let session = request.session.clone().expect("a session");
        self.known.entry(session).or_default().parts.push(part);
        request
    }

    fn transcript(&self, session: &str) -> PathBuf {
        let all = self.world.transcripts();
        all.into_iter().find(|path| id(path) == session).expect("the session's file")
    }

    /// The succession of the current session as the program keeps it.
    fn succession(&self) -> Value {
        let file = format!("{}.succession", self.current);
        let parts = self.world.parts().into_iter();
        let mut paths = parts.map(|part| part.join("sessions").join(&file));
        let text = paths.find_map(|path| fs::read_to_string(path).ok());
        text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap_or_default())
    }

    /// The numbers of the rounds in which a part was asked for, with the part.
    fn rounds(&self) -> Vec<(u64, String)> {
        let all = rounds(&self.world, &self.current);
        let part = |(number, summary, _): (u64, String, Option<String>)| {
            Some((number, asked(&summary)?.trim().to_owned()))
        };
        all.into_iter().filter_map(part).collect()
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.world.project().join(name);
        fs::write(&path, text).expect("the project is writable");
        path.display().to_string()
    }

    /// Lets the program propose and do it at once, as a user in another terminal.
    fn here(&self, words: &[&str]) {
        guard(&self.world, &[words, &["--here"]].concat());
    }

    /// Performs it, and returns the parts that leave the session; `None` if there is nothing to do.
    fn perform(&mut self, operation: Operation) -> Option<Vec<String>> {
        let all = self.rounds();
        let session = self.current.clone();
        if !matches!(operation, Operation::Undo | Operation::Redo) && all.len() < 3 {
            return None;
        }
        let mut pick = |from: usize| all[from + self.dice.below(all.len() - from)].clone();
        match operation {
            Operation::Undo => {
                self.known[&session].made_of.as_ref()?;
                self.tui.prompt("/brain-guard:undo");
            }
            Operation::Redo => {
                self.undone.as_ref()?;
                self.tui.prompt("/brain-guard:undo redo");
            }
            Operation::Slim => {
                let advice = guard(&self.world, &["advise", &session]).stdout;
                if !advice.contains("brain-guard surgery compress-") {
                    return None;
                }
                self.tui.prompt("/brain-guard:slim");
                self.world.wait("the proposal", || {
                    (self.succession()["step"] == "proposed").then_some(())
                });
                self.tui.wait_idle();
                self.tui.prompt("/brain-guard:slim yes");
            }
            Operation::Before => {
                let at = format!("round:{}", pick(1).0);
                self.here(&["surgery", "compress-before", &session, &at]);
            }
            Operation::Engagement => {
                let name = format!("work-{}", self.done.len());
                guard(&self.world, &["tag", &session, &pick(0).0.to_string(), &name]);
                self.here(&["surgery", "compress-engagement", &session, &name]);
            }
            Operation::Edit => {
                let (shrunk, line) = (pick(0).0, pick(0).0);
                let text = if shrunk == line {
                    format!("index {line}\n")
                } else {
                    format!("shrink {shrunk}\nindex {line}\n")
                };
                let list = self.file("list.txt", &text);
                self.here(&["surgery", "edit", &session, "--plan", &list]);
            }
            Operation::Extract => {
                let words =
                    ["extract", "run", &session, "--keep-recent", "1", "--min-length", "40"];
                let dry = self.world.guard(&[&words[..], &["--dry-run", "--json"]].concat());
                let dry: Value = serde_json::from_str(&dry.stdout).unwrap_or_default();
                if !dry["tokens"].is_object() {
                    return None;
                }
                self.here(&words);
            }
            Operation::Split => {
                let (last, rest) = all.split_last()?;
                let rest: Vec<String> = rest.iter().map(|(number, _)| number.to_string()).collect();
                let map = json!({"engagements": {"a": rest.join(","), "b": last.0.to_string()}});
                let map = self.file("map.json", &map.to_string());
                self.here(&["surgery", "split", &session, &map]);
                return Some(vec![last.1.clone()]);
            }
        }
        Some(Vec::new())
    }

    /// One switch by a random operation.
    fn switch(&mut self) {
        let before = self.succession()["since"].clone();
        let (path, operation, gone) = loop {
            let operation = ALL[self.dice.below(ALL.len())];
            let path = self.transcript(&self.current);
            let written = fs::read(&path).expect("the session");
            let typed = matches!(operation, Operation::Slim | Operation::Undo | Operation::Redo);
            if !typed {
                self.tui.type_text(DRAFT);
                self.wait_box(DRAFT);
            }
            let gone = self.perform(operation);
            if typed && gone.is_some() {
                self.tui.type_text(DRAFT);
            }
            if let Some(gone) = gone {
                break ((path, written), operation, gone);
            }
            self.tui.keys("C-u");
            self.wait_box("");
        };
        self.done.push(operation);
        let requests = self.world.mock.main().len();
        let to = self.world.wait("the other session", || {
            let last = self.succession();
            let to =
                last["to"].as_str().filter(|_| last["step"] == "done" && last["since"] != before);
            to.map(str::to_owned)
        });
        assert_eq!(self.world.mock.main().len(), requests, "{:?} sends nothing", self.done);
        self.wait_box(DRAFT);
        self.tui.keys("C-u");
        self.wait_box("");
        self.tui.wait_idle();
        let (file, written) = path;
        assert!(fs::read(file).expect("the session").starts_with(&written), "{:?}", self.done);
        let left = std::mem::replace(&mut self.current, to);
        self.undone = (operation == Operation::Undo).then_some(left.clone());
        if !self.known.contains_key(&self.current) {
            let mut known = self.known[&left].clone();
            known.made_of = Some(left);
            known.parts.retain(|part| !gone.contains(part));
            self.known.insert(self.current.clone(), known);
        }
        self.compare();
    }

    fn wait_box(&self, text: &str) {
        self.world.wait("the text in the box", || {
            (self.tui.prompt_box().as_deref() == Some(text)).then_some(())
        });
    }

    /// Compares what a fresh process and this client send.
    fn compare(&mut self) {
        let prompt = format!("read part {}", self.next_part);
        let before = self.world.mock.main().len();
        let words = ["--resume", &self.current, "--fork-session"];
        let output = self.world.print(&words, &prompt).finish();
        assert!(output.status.success(), "{:?}: {output:?}", self.done);
        let fresh = self.world.mock.main()[before].clone();
        let parts = self.known[&self.current].parts.clone();
        let live = self.ask();
        assert_eq!(live.session.as_ref(), Some(&self.current), "{:?}", self.done);
        let blocks = blocks_of_request(&live);
        assert_eq!(blocks, blocks_of_request(&fresh), "{:?}", self.done);
        assert!(has_whole_pairs(&live), "{:?}: {live}", self.done);
        for part in parts {
            let prompt = format!("read part {part}");
            let is_there = |block: &Block| matches!(block, Block::User(text) if *text == prompt);
            if blocks.iter().any(is_there) {
                continue;
            }
            let line = reference(&live, &end_of(&part));
            let line =
                line.unwrap_or_else(|| panic!("{:?}: {prompt} is nowhere: {live}", self.done));
            let page = guard(&self.world, &["show", &line]).stdout;
            assert!(page.contains(&prompt), "{:?}: {line} of {prompt} is\n{page}", self.done);
        }
    }
}

#[test]
fn random_operations_and_undos_on_a_running_session() {
    let sessions = if is_long() { 50 } else { 5_u64 };
    for seed in 1..=sessions {
        let mut walk = Walk::begin(client::PINNED, seed);
        for _ in 0..SWITCHES {
            walk.switch();
        }
        walk.tui.quit();
    }
}
