//! Runs verbs as a person outside of every session, expecting success or refusal.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::support::hook::Hook;

/// A user outside of every session, with the files of a session of this id.
pub fn outside(session: &str) -> Hook {
    let mut hook = Hook::of(session);
    for name in ["CLAUDECODE", "CLAUDE_PID", "CLAUDE_CODE_SESSION_ID", "BRAIN_GUARD_MOD"] {
        hook.set(name, "");
    }
    hook
}

/// Runs a verb that must succeed; returns its output.
pub fn done(hook: &Hook, args: &[&str]) -> String {
    let answer = hook.raw(args, b"");
    assert_eq!(answer.code, Some(0), "{args:?}: {answer:?}");
    answer.stdout
}

/// Runs a verb with `--json` that must succeed.
pub fn json(hook: &Hook, args: &[&str]) -> Value {
    let text = done(hook, &[args, &["--json"]].concat());
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// Runs a verb that must be refused; returns why.
pub fn refused(hook: &Hook, args: &[&str]) -> String {
    refused_with(1, hook, args)
}

/// Runs a verb that must end with this code; returns why.
pub fn refused_with(code: i32, hook: &Hook, args: &[&str]) -> String {
    let answer = hook.raw(args, b"");
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(code), ""), "{args:?}: {answer:?}");
    assert!(answer.stderr.starts_with("brain-guard: "), "{args:?}: {answer:?}");
    answer.stderr
}

/// Registers this process as the client that has the session of this file open, as the client does.
/// Returns the file that says so.
pub fn register_client(transcript: &Path, start: u64) -> PathBuf {
    let folder = transcript.ancestors().nth(3).expect("the client's folder").join("sessions");
    fs::create_dir_all(&folder).expect("own folder");
    let (own, id) = (std::process::id(), transcript.file_stem().and_then(|name| name.to_str()));
    let client = serde_json::json!({"pid": own, "sessionId": id, "procStart": start.to_string()});
    let file = folder.join(format!("{own}.json"));
    fs::write(&file, client.to_string()).expect("own folder");
    file
}

/// Every file below a folder: path and digest.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            let digest = Sha256::digest(fs::read(&path).expect("file"));
            all.insert(path, format!("{digest:x}"));
        }
    }
    all
}
