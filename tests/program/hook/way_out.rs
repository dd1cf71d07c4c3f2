//! No block without a way out, no promise that cannot be kept, nothing lost on the way.

use serde_json::json;

use crate::support::hook::{Hook, percent_in};

/// Where nothing is denied, only notes can inform; they repeat in the top tier.
#[test]
fn shadow_mode_repeats_its_note() {
    let hook = Hook::begun();
    hook.settings(&json!({"mode": "shadow"}));
    hook.fill(percent_in("narrow"));
    assert!(!hook.batch().note().is_empty(), "the first note");
    assert!(hook.batch().silent(), "once");
    for _ in 0..25 {
        assert_eq!(hook.read().verdict(), "pass");
    }
    assert!(!hook.batch().note().is_empty(), "again after 25 calls");
}

/// A command that contains our name does not avoid the cap.
#[test]
fn output_is_cut_whatever_the_command_is_called() {
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

/// After an edit that follows the seal, the turn's end must not end the run.
#[test]
fn an_edit_after_the_seal_is_answered_at_the_turns_end() {
    let hook = Hook::climbed(percent_in("coach"));
    hook.agent("brain-guard append --kind next 'one thread'");
    hook.agent("brain-guard seal");
    let text = std::fs::read_to_string(hook.file()).expect("the file");
    std::fs::write(hook.file(), text.replace("one thread", "another thread")).expect("edited");
    let reply = hook.stop();
    assert!(reply.refuses_end() && reply.note().contains("not sealed"), "{reply:?}");
}

/// A near miss of one of the agent's verbs is answered with the reason.
#[test]
fn a_near_miss_gets_its_reason() {
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
