//! `extract watch`, `status`, `gc` and the log on the real binary: when they act, what they keep,
//! how they end.
#![allow(clippy::format_collect, reason = "a row is a line")]

mod log;
mod retention;
mod watch;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::support::hook::{Answer, Hook};

/// A folder of pi sessions, in its own home.
pub struct World {
    pub hook: Hook,
    pub folder: PathBuf,
}

impl World {
    pub fn new() -> Self {
        let hook = Hook::new();
        let folder = hook.home.join(".pi/agent/sessions/--w--");
        fs::create_dir_all(&folder).expect("made");
        Self { hook, folder }
    }

    /// A session last written so many seconds ago, by its rows and its file.
    pub fn session(&self, id: &str, ago: u64) -> PathBuf {
        let path = self.folder.join(format!("{id}.jsonl"));
        fs::write(&path, session(id, ago)).expect("written");
        aged(&path, ago);
        path
    }

    pub fn settings(&self, extract: &Value) {
        self.hook.settings(&json!({"extract": extract}));
    }

    pub fn run(&self, args: &[&str]) -> Answer {
        self.hook.raw(&[&["extract"], args].concat(), b"")
    }

    /// One `watch --once`, as JSON.
    pub fn once(&self, path: &Path) -> Value {
        let answer = self.run(&["watch", text(path), "--once", "--json"]);
        serde_json::from_str(&answer.stdout).unwrap_or_else(|e| panic!("{e}: {answer:?}"))
    }

    pub fn store(&self) -> PathBuf {
        self.hook.home.join(".local/share/brain-guard/extracted")
    }

    /// The number of objects that ledgers name and packs hold.
    pub fn objects(&self) -> usize {
        let below = |folder: PathBuf| {
            let found = fs::read_dir(folder).into_iter().flatten().flatten();
            found.map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
        };
        let mut objects = BTreeSet::new();
        for session in below(self.store().join("sessions")).into_iter().flat_map(below) {
            let ledger = fs::read_to_string(session.join("ledger.jsonl")).unwrap_or_default();
            let records =
                ledger.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            objects
                .extend(records.filter_map(|record| Some(record["object"].as_str()?.to_owned())));
        }
        // `<sha256>-<pack>-<offset>-<length>`: a hole reads as zeros.
        let there = |object: &&String| {
            let parts: Vec<&str> = object.split('-').collect();
            let pack = self.store().join("objects").join(format!("{}.pack", parts[1]));
            let offset: usize = parts[2].parse().expect("an offset");
            fs::read(pack).is_ok_and(|bytes| bytes.get(offset).is_some_and(|byte| *byte != 0))
        };
        objects.iter().filter(there).count()
    }
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("utf-8")
}

/// The outcome for a file.
pub fn came<'a>(report: &'a Value, path: &Path) -> &'a Value {
    let seen = report["seen"].as_array().expect("a list");
    let found = seen.iter().find(|seen| seen["path"] == text(path));
    found.map_or(&Value::Null, |seen| &seen["came"])
}

/// Dates a file so many seconds back.
pub fn aged(path: &Path, ago: u64) {
    let file = File::options().append(true).open(path).expect("opened");
    file.set_modified(SystemTime::now() - Duration::from_secs(ago)).expect("set");
}

/// A text long enough to be extracted.
pub fn output(number: u32) -> String {
    format!("result {number}: {}", "0123456789 ".repeat(300))
}

/// Six tool calls with long results; the entry ids contain the session's id, because sessions do
/// not share ids.
pub fn session(id: &str, ago: u64) -> String {
    let began = chrono::Utc::now() - chrono::TimeDelta::seconds(ago as i64 + 100);
    let at = |seconds: i64| (began + chrono::TimeDelta::seconds(seconds)).to_rfc3339();
    let mut rows = vec![
        json!({"type": "session", "version": 3, "id": id, "timestamp": at(0), "cwd": "/w"}),
        message(
            &at(1),
            &format!("{id}-u0"),
            None,
            &json!({"role": "user", "content": "Look around."}),
        ),
    ];
    let mut parent = format!("{id}-u0");
    for number in 1..=6 {
        let (call, result) = (format!("{id}-c{number}"), format!("{id}-r{number}"));
        let asks = json!({"type": "toolCall", "id": format!("call{number}"), "name": "exec", "arguments": {"command": "ls"}});
        let asked = json!({"role": "assistant", "content": [asks], "stopReason": "toolUse"});
        rows.push(message(&at(10 * number), &call, Some(&parent), &asked));
        let gave = json!({"role": "toolResult", "toolCallId": format!("call{number}"), "toolName": "exec", "isError": false,
            "content": [{"type": "text", "text": output(number as u32)}]});
        rows.push(message(&at(10 * number + 1), &result, Some(&call), &gave));
        parent = result;
    }
    let said = json!({"role": "assistant", "content": [{"type": "text", "text": "Done."}], "stopReason": "stop"});
    rows.push(message(&at(100), &format!("{id}-end"), Some(&parent), &said));
    rows.iter().map(|row| format!("{row}\n")).collect()
}

fn message(at: &str, id: &str, parent: Option<&str>, message: &Value) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": at, "message": message})
}

pub fn wait_for(what: &str, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
