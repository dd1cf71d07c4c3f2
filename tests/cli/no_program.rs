//! The plugin's tree without a built program: `bin/brain-guard` of the checkout.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Answer, finish};

fn run(args: &[&str], stdin: &Value) -> Answer {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("bin/brain-guard"));
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
    assert!(told.contains("has no program") && told.contains("install"), "{told}");
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
