//! A user whose sessions are in the folder of `OpenClaw`.
#![allow(
    clippy::needless_pass_by_value,
    clippy::format_collect,
    clippy::unused_self,
    reason = "rows read better as they are written here"
)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::cli::verbs::{self, files};
use crate::support::hook::{Answer, Hook};

/// The session that most tests use.
pub const ID: &str = "3f0a9d1e-0000-4000-8000-000000000001";

pub struct World {
    pub hook: Hook,
}

impl World {
    /// A user outside of every session.
    pub fn new() -> Self {
        Self { hook: verbs::outside(ID) }
    }

    /// A user with a session of these rows.
    pub fn of(text: &str) -> Self {
        let world = Self::new();
        world.write(text);
        world
    }

    /// The session's file.
    pub fn file(&self) -> PathBuf {
        self.hook.home.join(".openclaw/agents/main/sessions").join(format!("{ID}.jsonl"))
    }

    /// Writes the session's file, dated two hours ago.
    pub fn write(&self, text: &str) {
        self.put(&self.file(), text);
    }

    pub fn put(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("folder")).expect("folder");
        fs::write(path, text).expect("session");
        let file = File::options().append(true).open(path).expect("session");
        file.set_modified(SystemTime::now() - Duration::from_secs(7_200)).expect("time");
    }

    pub fn text(&self) -> String {
        fs::read_to_string(self.file()).expect("session")
    }

    pub fn rows(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    pub fn row(&self, id: &str) -> Value {
        let is = |row: &Value| row["id"] == id || row["__id"] == id;
        self.rows().into_iter().find(is).unwrap_or_else(|| panic!("no entry {id}"))
    }

    /// The files of the extraction store: path and digest.
    pub fn kept(&self) -> BTreeMap<PathBuf, String> {
        files(&self.hook.home.join(".local/share/brain-guard/extracted"))
    }

    /// Runs a verb.
    pub fn run(&self, args: &[&str]) -> Answer {
        self.hook.raw(&verb(args), b"")
    }

    /// Runs a verb that must succeed.
    pub fn done(&self, args: &[&str]) -> String {
        verbs::done(&self.hook, &verb(args))
    }

    /// Runs a verb with `--json` that must succeed.
    pub fn json(&self, args: &[&str]) -> Value {
        verbs::json(&self.hook, &verb(args))
    }

    /// Runs a verb that must be refused and change nothing; returns why.
    pub fn refused(&self, args: &[&str]) -> String {
        let before = files(&self.hook.home.join(".openclaw"));
        let kept = self.kept();
        let why = verbs::refused(&self.hook, &verb(args));
        assert_eq!(files(&self.hook.home.join(".openclaw")), before, "{args:?}");
        let ours = |kept: BTreeMap<PathBuf, String>| -> Vec<_> {
            kept.into_iter().filter(|(path, _)| !path.ends_with(".lock")).collect()
        };
        assert_eq!(ours(self.kept()), ours(kept), "{args:?}");
        why
    }

    /// How many values a run extracts.
    pub fn extracts(&self, args: &[&str]) -> u64 {
        let told = self.json(&[&["run", ID], args].concat());
        told["values"].as_u64().expect("values")
    }

    /// Sets a field of an entry.
    pub fn set(&self, id: &str, name: &str, value: Value) {
        let rows = self.rows().into_iter().map(|mut row| {
            if row["id"] == id || row["__id"] == id {
                row[name] = value.clone();
            }
            format!("{row}\n")
        });
        let text: String = rows.collect();
        self.write(&text);
    }
}

/// The arguments of an `extract` verb.
fn verb<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&["extract"], args].concat()
}

/// A text of this length that begins with `what`.
pub fn long(what: &str, characters: usize) -> String {
    let text = format!("{what} the quick brown fox jumps over it ");
    text.chars().cycle().take(characters).collect()
}

/// A session of pi, row by row.
pub struct Talk {
    rows: Vec<Value>,
}

impl Talk {
    pub fn new() -> Self {
        let header = json!({
            "type": "session", "version": 3, "id": ID, "timestamp": "2026-02-20T10:00:00.000Z",
            "cwd": "/w",
        });
        Self { rows: vec![header] }
    }

    /// Appends a row; its id is `aa` and its number.
    pub fn row(mut self, mut row: Value) -> Self {
        let number = self.rows.len();
        let parent = self.rows.last().and_then(|row| row.get("id").cloned());
        row["id"] = format!("aa{number:06}").into();
        if row.get("parentId").is_none() {
            row["parentId"] = if number == 1 { Value::Null } else { parent.into() };
        }
        row["timestamp"] = format!("2026-02-20T10:{number:02}:00.000Z").into();
        self.rows.push(row);
        self
    }

    pub fn message(self, message: Value) -> Self {
        self.row(json!({ "type": "message", "message": message }))
    }

    pub fn user(self, text: &str) -> Self {
        self.message(json!({ "role": "user", "content": text }))
    }

    pub fn assistant(self, content: Value) -> Self {
        self.message(json!({
            "role": "assistant", "content": content, "provider": "anthropic",
            "usage": { "input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 3 },
            "stopReason": "stop",
        }))
    }

    pub fn answer(self, text: &str) -> Self {
        self.assistant(json!([{ "type": "text", "text": text }]))
    }

    /// A tool call and its result: two rows.
    pub fn tool(self, name: &str, result: Value, details: Value) -> Self {
        let id = format!("call_{}", self.rows.len());
        let call = json!([{ "type": "toolCall", "id": id, "name": name, "arguments": { "n": 1 } }]);
        self.assistant(call).message(json!({
            "role": "toolResult", "toolCallId": id, "toolName": name, "content": result,
            "details": details, "isError": false,
        }))
    }

    /// A tool call whose result has the same text twice.
    pub fn exec(self, text: &str) -> Self {
        let result = json!([{ "type": "text", "text": text }]);
        self.tool("exec", result, json!({ "aggregated": text }))
    }

    pub fn text(&self) -> String {
        self.rows.iter().map(|row| format!("{row}\n")).collect()
    }
}

/// A talk with one long result, `aa000003`, and enough rows after it.
pub fn plain() -> Talk {
    Talk::new()
        .user("look")
        .exec(&long("found", 4_000))
        .answer("seen")
        .user("and now?")
        .answer("this")
        .user("so?")
        .answer("that")
}
