//! A user with a project and sessions in the client's folder, in the format of client 2.1.329.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::verbs;
pub use crate::cli::verbs::files;
use crate::support::hook::{Answer, Hook};

/// The session that most tests use.
pub const ID: &str = "3f0a9d1e-0000-4000-8000-000000000001";
/// Another session of the same project.
pub const OTHER: &str = "7c41b2aa-0000-4000-8000-000000000002";

pub struct World {
    pub hook: Hook,
}

impl World {
    /// A user outside of every session, with one session of `rounds` rounds.
    pub fn new(rounds: u32) -> Self {
        let world = Self { hook: verbs::outside(ID) };
        world.write(ID, &world.session(ID, rounds, 0));
        world
    }

    /// The client's folder for the project.
    pub fn folder(&self) -> PathBuf {
        self.hook.home.join(".claude/projects").join(client_folder_name(&self.hook.project))
    }

    pub fn file(&self, id: &str) -> PathBuf {
        self.folder().join(format!("{id}.jsonl"))
    }

    /// Writes a session's file.
    pub fn write(&self, id: &str, text: &str) {
        fs::create_dir_all(self.folder()).expect("folder");
        fs::write(self.file(id), text).expect("session");
    }

    pub fn store(&self) -> PathBuf {
        self.hook.home.join(".local/share/brain-guard/sessions")
    }

    /// Rounds of ten minutes each, from 10:00 plus `late` minutes.
    pub fn session(&self, id: &str, rounds: u32, late: u32) -> String {
        (1..=rounds).map(|n| self.round(id, n, late + 10 * n)).collect()
    }

    /// A round: a prompt; one message with thinking, text and a call; the result; an answer.
    pub fn round(&self, id: &str, n: u32, minute: u32) -> String {
        let uuid = |row: u32| format!("{}-{n:04}-4000-8000-{row:012}", &id[..8]);
        let at = |second: u32| {
            format!("2026-03-19T{:02}:{:02}:{second:02}.000Z", 10 + minute / 60, minute % 60)
        };
        let message = |name: &str, content: Value, used: u64| {
            json!({
                "id": format!("msg_{}_{n}_{name}", &id[..8]), "type": "message", "role": "assistant",
                "model": "claude-opus-5", "content": [content], "stop_reason": null,
                "usage": {
                    "input_tokens": 10, "cache_creation_input_tokens": 0,
                    "cache_read_input_tokens": used, "output_tokens": 50,
                },
            })
        };
        let call = format!("toolu_{}_{n}", &id[..8]);
        // The usage grows by a thousand tokens a round.
        let used = 20_000 + 1_000 * u64::from(n);
        let thinking = json!({
            "type": "thinking", "thinking": format!("secret thought {n}"), "signature": "c2ln".repeat(25),
        });
        let tool = json!({
            "type": "tool_use", "id": call, "name": "Bash",
            "input": { "command": format!("run {n}"), "description": format!("look at {n}") },
        });
        let result = json!([{
            "type": "tool_result", "tool_use_id": call,
            "content": format!("found thing {n}\n{}", "the quick brown fox jumps over it ".repeat(100)),
        }]);
        let answer = json!({ "type": "text", "text": format!("the answer {n} is known") });
        let text = json!({ "type": "text", "text": format!("looking at {n}") });
        let prompt = format!("question {n} about apples");
        let rows = [
            ("user", json!({ "role": "user", "content": prompt })),
            ("assistant", message("a", thinking, used)),
            ("assistant", message("a", text, used)),
            ("assistant", message("a", tool, used)),
            ("user", json!({ "role": "user", "content": result })),
            ("assistant", message("b", answer, used + 500)),
        ];
        let mut text = String::new();
        for (row, (kind, message)) in (0..).zip(rows) {
            let parent = match (n, row) {
                (1, 0) => Value::Null,
                (_, 0) => json!(format!("{}-{:04}-4000-8000-{:012}", &id[..8], n - 1, 5)),
                _ => json!(uuid(row - 1)),
            };
            let line = json!({
                "parentUuid": parent, "isSidechain": false, "type": kind, "message": message,
                "uuid": uuid(row), "timestamp": at(row), "sessionId": id, "version": "2.1.329",
                "cwd": self.hook.project, "userType": "external",
            });
            text.push_str(&line.to_string());
            text.push('\n');
        }
        text
    }

    /// Runs a verb.
    pub fn run(&self, args: &[&str]) -> Answer {
        self.hook.raw(args, b"")
    }

    /// Runs a verb that must succeed.
    pub fn done(&self, args: &[&str]) -> String {
        verbs::done(&self.hook, args)
    }

    /// Runs a verb with `--json` that must succeed.
    pub fn json(&self, args: &[&str]) -> Value {
        verbs::json(&self.hook, args)
    }

    /// Runs a verb that must be refused; returns why.
    pub fn refused(&self, args: &[&str]) -> String {
        verbs::refused(&self.hook, args)
    }

    /// The store's blocks and session databases.
    pub fn kept(&self) -> BTreeMap<PathBuf, String> {
        let mut all = files(&self.store());
        all.retain(|path, _| path.parent() != Some(self.store().as_path()));
        all
    }
}

pub fn rows(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("session");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The texts, calls and results in a file, in order and shortened.
pub fn said(path: &Path) -> Vec<String> {
    let mut said = Vec::new();
    for row in rows(path) {
        let content = &row["message"]["content"];
        if let Some(text) = content.as_str() {
            said.push(text.to_owned());
        }
        for block in content.as_array().into_iter().flatten() {
            let text =
                ["text", "thinking", "name", "content"].iter().find_map(|k| block[*k].as_str());
            said.push(text.unwrap_or_default().to_owned());
        }
    }
    said
}

/// The client's name for the folder of a project.
pub fn client_folder_name(project: &Path) -> String {
    let path = project.display().to_string();
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
