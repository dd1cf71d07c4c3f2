//! How much a call may bring into the context while reads are blocked.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::support::hook::{Answer, Hook, percent_in};

/// 60 KB of lines with multi-byte characters, without a final newline.
fn long() -> String {
    let mut text = String::new();
    for n in 0..2_000 {
        let _ = writeln!(text, "line {n:05} of output, größer ✓");
    }
    text.trim_end().to_owned()
}

fn ran(hook: &Hook, response: &Value) -> Answer {
    hook.send(&hook.payload(
        "PostToolUse",
        &json!({
            "tool_name": "Bash", "tool_use_id": "toolu_out",
            "tool_input": {"command": "make"}, "tool_response": response,
        }),
    ))
}

fn response(stdout: &str, stderr: &str) -> Value {
    json!({"stdout": stdout, "stderr": stderr, "interrupted": false, "isImage": false, "noOutputExpected": false})
}

/// Asserts that the reply has the head and tail of `whole`, and names a file with all of it.
fn assert_capped(answer: &Answer, whole: &str) {
    let reply = answer.json();
    let output = &reply["hookSpecificOutput"]["updatedToolOutput"];
    let stdout = output["stdout"].as_str().unwrap_or_else(|| panic!("not capped: {answer:?}"));
    let chars: Vec<char> = whole.chars().collect();
    let head: String = chars[..2_400].iter().collect();
    let tail: String = chars[chars.len() - 1_600..].iter().collect();
    let line =
        stdout.strip_prefix(&head).and_then(|s| s.strip_suffix(&tail)).expect("head and tail");
    assert!(line.contains(&format!("{} characters left out", chars.len() - 4_000)), "{line}");
    let path = line.trim().trim_end_matches(']').rsplit(' ').next().expect("path");
    assert_eq!(fs::read_to_string(path).expect("saved"), whole);
    assert_eq!((&output["stderr"], &output["interrupted"]), (&json!(""), &json!(false)));
}

#[test]
fn shell_output_is_cut_and_kept_whole() {
    let hook = Hook::climbed(percent_in("block-reads"));
    let long = long();
    assert!(long.len() > 60_000);
    assert_capped(&ran(&hook, &response(&long, "")), &long);
    let both = format!("{long}\nwarning");
    assert_capped(&ran(&hook, &response(&long, "warning")), &both);
}

#[test]
fn short_output_images_and_background_tasks_are_not_cut() {
    let hook = Hook::climbed(percent_in("block-reads"));
    assert!(ran(&hook, &response(&"ü".repeat(4_000), "")).silent());
    let mut image = response(&long(), "");
    image["isImage"] = true.into();
    assert!(ran(&hook, &image).silent());
    let mut background = response(&long(), "");
    background["backgroundTaskId"] = "b1".into();
    assert!(ran(&hook, &background).silent());
}

#[test]
fn nothing_is_cut_below_the_tier_in_plan_mode_or_in_a_subagent() {
    let long = long();
    assert!(ran(&Hook::climbed(percent_in("coach")), &response(&long, "")).silent());
    let hook = Hook::climbed(percent_in("block-reads"));
    for (field, value) in [("permission_mode", "plan"), ("agent_id", "a1")] {
        let mut payload = hook.payload(
            "PostToolUse",
            &json!({"tool_name": "Bash", "tool_use_id": "toolu_out", "tool_input": {"command": "make"},
                "tool_response": response(&long, "")}),
        );
        payload[field] = value.into();
        assert!(hook.send(&payload).silent(), "{field}");
    }
}

/// The client saved the output, shows the agent its beginning, and gives the hook a part.
#[test]
fn output_saved_by_the_client_is_left_alone() {
    let hook = Hook::climbed(percent_in("block-reads"));
    let mut saved = response(&long(), "");
    saved["persistedOutputPath"] = "/tmp/client/output.txt".into();
    assert!(ran(&hook, &saved).silent());
    assert!(!hook.places().state.join("outputs").join(&hook.session).exists());
}

fn saw(hook: &Hook, tool: &str, path: &str) {
    let told = json!({"tool_name": tool, "tool_use_id": "toolu_1", "tool_input": {"file_path": path},
        "tool_response": {"type": "text"}});
    assert!(hook.send(&hook.payload("PostToolUse", &told)).silent());
}

#[test]
fn a_known_file_may_be_read_again_in_part() {
    let hook = Hook::begun();
    let path = hook.project.join("src/lib.rs");
    let path = path.to_str().expect("utf-8");
    saw(&hook, "Edit", path);
    hook.fill(percent_in("block-reads"));
    let answer = hook.pre("Read", &json!({"file_path": path, "offset": 400, "limit": 2_000}));
    let reply = answer.json();
    let specific = &reply["hookSpecificOutput"];
    assert_eq!(specific["permissionDecision"], "allow");
    assert_eq!(specific["updatedInput"], json!({"file_path": path, "offset": 400, "limit": 200}));
    assert!(answer.note().contains("200 lines at a time"));

    let whole = hook.pre("Read", &json!({"file_path": path}));
    assert_eq!(
        whole.json()["hookSpecificOutput"]["updatedInput"],
        json!({"file_path": path, "limit": 200})
    );
    assert!(hook.pre("Read", &json!({"file_path": path, "limit": 50})).silent());
    assert_eq!(hook.read().verdict(), "deny");

    // A relative path starts from the folder of the agent's shell.
    assert_eq!(hook.pre("Read", &json!({"file_path": "src/lib.rs"})).verdict(), "allow");

    hook.fill(percent_in("narrow"));
    assert_eq!(hook.pre("Read", &json!({"file_path": path})).verdict(), "deny");
}

/// A file that a subagent read is not in the main loop's context.
#[test]
fn a_subagents_reads_make_no_file_known() {
    let hook = Hook::begun();
    let told = json!({"tool_name": "Read", "tool_use_id": "toolu_1", "agent_id": "a1",
        "tool_input": {"file_path": "/etc/passwd"}, "tool_response": {"type": "text"}});
    assert!(hook.send(&hook.payload("PostToolUse", &told)).silent());
    hook.fill(percent_in("block-reads"));
    assert_eq!(hook.pre("Read", &json!({"file_path": "/etc/passwd"})).verdict(), "deny");
}
