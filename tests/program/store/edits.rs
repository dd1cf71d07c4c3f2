//! Session files during a rewrite: killed at each writing call, without space, or read-only. The
//! file is the old or the new one, and the next edit ends like an undisturbed one.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::roles;
use crate::store::Played;
use crate::support::disk::Tree;
use crate::support::hook::{Answer, finish};
use crate::support::trace::{Run, ends, strace};

/// A folder with a session of a few megabytes.
pub struct Folder {
    pub dir: tempfile::TempDir,
    pub old: String,
}

impl Folder {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let mut old =
            String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/w\"}\n");
        for number in 0..40 {
            let text = format!("long {}", "x".repeat(60_000));
            old.extend([format!(
                "{{\"type\":\"message\",\"id\":\"r{number}\",\"message\":{{\"role\":\"toolResult\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
            )]);
        }
        old += "{\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"assistant\",\"content\":[],\"stopReason\":\"stop\"}}\nno json";
        let folder = Self { dir, old };
        fs::write(folder.session(), &folder.old).expect("written");
        folder
    }

    pub fn session(&self) -> PathBuf {
        self.dir.path().join("s.jsonl")
    }

    pub fn new_text(&self) -> String {
        self.old.replace("long", "short")
    }

    pub fn command(&self) -> Command {
        let mut command = roles::command(&["edit"]);
        command.arg(self.session()).env_clear().current_dir("/");
        command
    }

    /// The command, started by this shell script.
    pub fn within(&self, words: &str) -> Answer {
        let mut command = Command::new("sh");
        command.args(["-c", words]).arg(roles::program()).arg("edit").arg(self.session());
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        finish(command, b"")
    }

    pub fn is(&self, text: &str) -> bool {
        fs::read_to_string(self.session()).is_ok_and(|found| found == text)
    }

    /// Checks that an edit works now and leaves nothing else behind.
    fn goes_through(&self) -> Result<(), String> {
        self.comes_to(&self.new_text(), 1)
    }

    /// Checks that this text results after at most this many edits.
    pub fn comes_to(&self, text: &str, edits: u32) -> Result<(), String> {
        let mut again = finish(self.command(), b"");
        for _ in 1..edits {
            if again.code != Some(0) {
                again = finish(self.command(), b"");
            }
        }
        if again.code != Some(0) || !self.is(text) {
            let found = fs::read_to_string(self.session()).unwrap_or_default();
            let end = &found[found.len().saturating_sub(200)..];
            return Err(format!("the next edit: {again:?}; {} bytes, …{end}", found.len()));
        }
        let names: Vec<_> = fs::read_dir(self.dir.path())
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name())
            .filter(|name| name != "s.jsonl")
            .collect();
        if names.is_empty() { Ok(()) } else { Err(format!("{names:?} stayed behind")) }
    }
}

/// Kills the edit at each writing call.
pub fn killed() -> Played {
    let strace = strace()?;
    let folder = Folder::new();
    let old = Tree::read(folder.dir.path());
    let run = Run::of(&folder.command(), b"");
    let log = tempfile::NamedTempFile::new().expect("a log");
    let (answer, points, _) = run.watched(&strace, folder.dir.path(), log.path());
    if answer.code != Some(0) || !folder.is(&folder.new_text()) {
        return Err(format!("undisturbed: {answer:?}"));
    }
    let points = ends(points);
    let calls = ["write", "rename", "linkat", "fsync", "unlink"];
    if let Some(call) = calls.iter().find(|call| !points.iter().any(|p| p.call.starts_with(**call)))
    {
        return Err(format!("it does not {call}: {points:?}"));
    }
    let mut faults = Vec::new();
    for point in &points {
        old.put(folder.dir.path());
        let at = format!("{} {}: {}", point.call, point.number, point.line);
        if !run.killed(&strace, point) {
            faults.push(format!("it never came to {at}"));
        } else if !folder.is(&folder.old) && !folder.is(&folder.new_text()) {
            faults.push(format!("half of it after {at}"));
        } else if let Err(why) = folder.goes_through() {
            faults.push(format!("after {at}: {why}"));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n  ")) }
}

/// No space for the new file.
pub fn full() -> Played {
    let folder = Folder::new();
    // Without the trap the signal kills the program.
    for (words, ends) in [
        ("trap '' XFSZ; ulimit -f 900; exec \"$0\" \"$@\"", true),
        ("ulimit -f 900; exec \"$0\" \"$@\"", false),
    ] {
        let answer = folder.within(words);
        if ends && (answer.code != Some(1) || !answer.stdout.contains("s.jsonl")) {
            return Err(format!("it did not say why: {answer:?}"));
        }
        if !folder.is(&folder.old) {
            return Err(format!("the session changed: {answer:?}"));
        }
        let left = fs::read_dir(folder.dir.path()).into_iter().flatten().count();
        if ends && left != 1 {
            return Err(format!("{left} files stayed"));
        }
    }
    folder.goes_through()
}

/// A read-only folder.
pub fn read_only() -> Played {
    let folder = Folder::new();
    let script = "mount --bind \"$PWD\" \"$PWD\" && mount -o remount,ro,bind,nosuid,nodev \"$PWD\" && exec \"$0\" \"$@\"";
    let inside = format!("exec unshare -rm sh -c '{script}' \"$0\" \"$@\"");
    let possible = folder.within("exec unshare -rm true");
    if possible.code != Some(0) {
        return Err("no user namespace to be had, in which a folder can be mounted".to_owned());
    }
    let answer = folder.within(&inside);
    if answer.code != Some(1) || !answer.stdout.contains("s.jsonl") || !folder.is(&folder.old) {
        return Err(format!("{answer:?}"));
    }
    folder.goes_through()
}
