//! No stance without a way out, nothing told that can't follow, nothing lost on
//! the way.

use serde_json::json;

use crate::harness::{Hook, percent_in};

/// A capped stance denies nothing, so only notes can tell; they go on at the top.
#[test]
fn a_capped_session_is_told_again() {
    let mut hook = Hook::begun();
    hook.set("BRAIN_GUARD_SHADOW", "1");
    hook.fill(percent_in("narrow"));
    assert!(!hook.batch().note().is_empty(), "the first note");
    assert!(hook.batch().silent(), "once");
    for _ in 0..25 {
        assert_eq!(hook.read().verdict(), "pass");
    }
    assert!(!hook.batch().note().is_empty(), "again after 25 calls");
}

/// What the cap saved is the agent's; the sessions' state it may only look at.
#[test]
fn saved_outputs_are_the_agents_and_the_state_is_not() {
    let hook = Hook::climbed(percent_in("block-reads"));
    let state = hook.places().state;
    let run =
        |how: &str, what: &str| hook.bash(&format!("{how} {}/{what}", state.display())).verdict();
    assert_eq!(run("grep x", "outputs/s/t.txt"), "pass");
    assert_eq!(run("sort -u -o", "outputs/s/t.txt"), "pass");
    assert_eq!(run("grep x", "sessions/s.json"), "pass");
    assert_eq!(run("sort -u -o", "sessions/s.json"), "deny");
}

/// A word of ours in the command is no way round the cap.
#[test]
fn the_cap_holds_whatever_the_command_is_called() {
    let hook = Hook::climbed(percent_in("block-reads"));
    let long = "x".repeat(60_000);
    let answer = hook.send(&hook.payload(
        "PostToolUse",
        &json!({
            "tool_name": "Bash", "tool_use_id": "t1",
            "tool_input": {"command": "cat /srv/brain-guard/log"},
            "tool_response": {"stdout": long, "stderr": "", "interrupted": false, "isImage": false},
        }),
    ));
    let output = &answer.json()["hookSpecificOutput"]["updatedToolOutput"]["stdout"];
    assert!(output.as_str().is_some_and(|o| o.len() < 5_000), "{answer:?}");
}

/// The agent was told to end its turn; an edit behind the seal must not end the run.
#[test]
fn an_edit_behind_a_seal_below_the_top_is_answered_at_the_turns_end() {
    let hook = Hook::climbed(percent_in("coach"));
    hook.agent("brain-guard append --kind next 'one thread'");
    hook.agent("brain-guard seal");
    let text = std::fs::read_to_string(hook.file()).expect("the file");
    std::fs::write(hook.file(), text.replace("one thread", "another thread")).expect("edited");
    let reply = hook.stop().json();
    assert_eq!(reply["decision"], "block", "{reply}");
    assert!(reply["reason"].as_str().is_some_and(|r| r.contains("not sealed")), "{reply}");
}

/// A command that almost is one of the agent's own is answered with what stands against it.
#[test]
fn a_near_miss_is_told_its_reason() {
    let hook = Hook::climbed(percent_in("narrow"));
    for (command, reason) in [
        ("brain-guard seal | tee x", "`|` outside single quotes at column 18"),
        ("brain-guard seal > /dev/null", "`>`"),
        ("brain-guard append --kind thread \"costs $5\"", "`$`"),
        ("brain-guard append --kind thread <<EOF\n- one\nEOF", "column"),
        ("brain-guard seal # done", "`#`"),
        ("~/.local/bin/brain-guard seal", "`~`"),
    ] {
        let told = hook.bash(command).reason();
        assert!(told.contains("only as the whole command"), "{command}: {told}");
        assert!(told.contains(reason), "{command}: {told}");
    }
    let other = hook.bash("grep brain-guard README.md").reason();
    assert!(!other.contains("only as the whole command"), "{other}");
}
