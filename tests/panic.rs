//! A panic in the hook lets the call pass: exit 0, empty stdout, a line in the log. No input is
//! known to cause one, so this program installs the hook's handler and panics itself.
#![allow(clippy::disallowed_methods, reason = "tests are an edge")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const PANICS: &str = "BRAIN_GUARD_TEST_CHILD";

fn main() {
    match std::env::var(PANICS).as_deref() {
        Ok("armed") => {
            guard::hook::pass_on_panic();
            panic!("a bug in the hook");
        }
        Ok(_) => panic!("a bug in the hook"),
        Err(_) => {}
    }
    // Listing tools ask for tests, but there are none to choose from.
    if std::env::args().any(|a| a == "--list") {
        return;
    }
    let home = tempfile::tempdir().expect("temporary folder");

    let passed = child("armed", home.path());
    assert_eq!(passed.status.code(), Some(0), "{passed:?}");
    assert!(passed.stdout.is_empty() && passed.stderr.is_empty(), "{passed:?}");
    let lines = logged(home.path());
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains(r#""what":"panic""#) && lines[0].contains("a bug in the hook"),
        "{lines:?}"
    );

    let failed = child("bare", home.path());
    assert_ne!(failed.status.code(), Some(0), "without the handler a panic is a failure");
    assert_eq!(logged(home.path()).len(), 1);

    let armed =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/main.rs")).expect("source");
    let (handler, run) = (armed.find("pass_on_panic()"), armed.find("hook::run("));
    assert!(handler.is_some() && handler < run, "the hook arms the handler before anything else");
}

fn child(how: &str, home: &Path) -> Output {
    let me = std::env::current_exe().expect("own path");
    let mut command = Command::new(me);
    command.env_clear().env(PANICS, how).env("HOME", home).env("CLAUDE_PROJECT_DIR", home);
    command.output().expect("ran")
}

fn logged(home: &Path) -> Vec<String> {
    let state = fs::read_dir(home.join(".local/state/brain-guard")).expect("state");
    let log = state.flatten().next().expect("project").path().join("log.jsonl");
    fs::read_to_string(log).expect("log").lines().map(str::to_owned).collect()
}
