//! The launcher, `bin/brain-guard`: with a program for this machine beside it, and without one.

use std::env::consts;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::hook::{Answer, finish};

const LAUNCHER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/bin/brain-guard");

/// A folder with the launcher and a program for `machine`, which prints its arguments.
fn beside(machine: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("folder");
    fs::copy(LAUNCHER, folder.path().join("brain-guard")).expect("copied");
    let program = folder.path().join(format!("brain-guard-{machine}-unknown-linux-musl"));
    symlink("/bin/echo", program).expect("linked");
    folder
}

fn launched(launcher: &Path) -> Answer {
    let mut command = Command::new(launcher);
    command.args(["search", "two words", ""]);
    finish(command, b"")
}

#[test]
fn the_program_for_this_machine_is_started_with_every_argument() {
    let folder = beside(consts::ARCH);
    let launcher = folder.path().join("brain-guard");
    assert_eq!(launched(&launcher).stdout, "search two words \n");
    let link = tempfile::tempdir().expect("folder");
    let link = link.path().join("brain-guard");
    symlink(launcher, &link).expect("linked");
    assert_eq!(launched(&link).stdout, "search two words \n");
}

#[test]
fn a_program_for_another_machine_is_not_started() {
    let folder = beside("riscv64");
    let answer = launched(&folder.path().join("brain-guard"));
    assert_eq!(answer.code, Some(127));
    assert!(answer.stderr.contains("no program for this machine"), "{answer:?}");
}

fn run(args: &[&str], stdin: &Value) -> Answer {
    let mut command = Command::new(LAUNCHER);
    command.args(args);
    finish(command, format!("{stdin}\n").as_bytes())
}

#[test]
fn without_a_program_only_the_session_start_says_what_to_do() {
    let event =
        |name: &str| json!({"session_id": "s", "hook_event_name": name, "source": "startup"});
    let start = run(&["hook"], &event("SessionStart"));
    assert_eq!(start.code, Some(0));
    let told = start.json()["systemMessage"].as_str().expect("a line").to_owned();
    assert!(told.contains("has no program for this machine") && told.contains("install"), "{told}");
    for quiet in ["PreToolUse", "Stop", "UserPromptSubmit", "SessionEnd"] {
        assert!(run(&["hook"], &json!({"hook_event_name": quiet})).silent(), "{quiet}");
    }
    for sidecar in [&["hook", "--rewake"][..], &["hook", "--piece", "2"]] {
        assert!(run(sidecar, &event("SessionStart")).silent());
    }
    assert_eq!(run(&["mod", "start"], &json!({})).json(), json!({"ok": false}));
}

#[test]
fn without_a_program_verbs_say_what_to_do() {
    let command =
        json!({"hook_event_name": "UserPromptExpansion", "command_name": "brain-guard:status"});
    let blocked = run(&["hook"], &command).json();
    assert_eq!(blocked["decision"], "block");
    let other = json!({"hook_event_name": "UserPromptExpansion", "command_name": "other:status"});
    assert!(run(&["hook"], &other).silent());
    let verb = run(&["status"], &json!({}));
    assert_eq!(verb.code, Some(127));
    assert!(verb.stderr.contains("has no program"), "{verb:?}");
}
