//! A panic in the hook lets the call pass: exit 0, empty stdout, a line in the log. No input is
//! known to cause one, so a process installs the hook's handler and panics itself.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::roles;

#[test]
fn a_panic_lets_the_call_pass_and_is_logged() {
    let home = tempfile::tempdir().expect("temporary folder");

    let passed = played("panic-in-hook", home.path());
    assert_eq!(passed.status.code(), Some(0), "{passed:?}");
    assert!(passed.stdout.is_empty() && passed.stderr.is_empty(), "{passed:?}");
    let lines = logged(home.path());
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains(r#""what":"panic""#) && lines[0].contains("a bug in the hook"),
        "{lines:?}"
    );

    let failed = played("panic", home.path());
    assert_ne!(failed.status.code(), Some(0), "without the handler a panic is a failure");
    assert_eq!(logged(home.path()).len(), 1);

    let main =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/main.rs")).expect("source");
    let (handler, run) = (main.find("pass_on_panic()"), main.find("hook::run("));
    assert!(handler.is_some() && handler < run, "the hook installs the handler first");
}

fn played(role: &str, home: &Path) -> Output {
    let mut command = roles::command(&[role]);
    command.env_clear().env("HOME", home).env("CLAUDE_PROJECT_DIR", home);
    command.output().expect("ran")
}

fn logged(home: &Path) -> Vec<String> {
    let state = fs::read_dir(home.join(".local/state/brain-guard/projects")).expect("state");
    let log = state.flatten().next().expect("project").path().join("log.jsonl");
    fs::read_to_string(log).expect("log").lines().map(str::to_owned).collect()
}
