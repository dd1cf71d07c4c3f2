//! Faults at 31 %, where a working hook would deny. The call passes in silence, and the log has a
//! line if it can be written.

use std::fs;

use serde_json::json;

use crate::support::hook::{Answer, Hook, percent_in};

/// Asserts that the call passes, with these fault lines in the log.
fn assert_passes(hook: &Hook, answer: &Answer, faults: &[&str]) {
    assert!(answer.silent(), "{answer:?}");
    let logged: Vec<String> = hook
        .journal("fault")
        .iter()
        .map(|l| l["what"].as_str().expect("what").to_owned())
        .collect();
    assert_eq!(logged, faults);
}

#[test]
fn invalid_json_passes_and_is_logged() {
    for bytes in [&b""[..], b"{", b"no", b"\0", b"{\"session_id\":\"\xff\xfe\"}", b"{}{}"] {
        let hook = Hook::climbed(percent_in("narrow"));
        assert_passes(&hook, &hook.raw(&["hook"], bytes), &["payload is not JSON"]);
    }
}

/// A newer client's payload is not a fault.
#[test]
fn json_of_another_shape_passes() {
    for text in [
        "{}",
        "[]",
        "null",
        "7",
        r#"{"session_id":7}"#,
        r#"{"hook_event_name":"New","session_id":"s"}"#,
    ] {
        let hook = Hook::climbed(percent_in("narrow"));
        assert_passes(&hook, &hook.raw(&["hook"], text.as_bytes()), &[]);
    }
}

/// The file may be late, a folder, or gone for good: reported once a session.
#[test]
fn an_unreadable_transcript_is_logged_once() {
    for folder in [false, true] {
        let hook = Hook::climbed(percent_in("narrow"));
        fs::remove_file(&hook.transcript).expect("removed");
        if folder {
            fs::create_dir(&hook.transcript).expect("folder");
        }
        let said = format!("transcript {} not read", hook.transcript.display());
        for _ in 0..3 {
            assert_passes(&hook, &hook.read(), &[&said]);
        }
    }
}

#[test]
fn a_half_written_state_passes() {
    for damage in [&b"{\"job\":\"x\",\"ran"[..], b"", b"\0\0\0", b"{\"job\":7}"] {
        let hook = Hook::climbed(percent_in("narrow"));
        fs::write(hook.places().session(&hook.session, "json"), damage).expect("damage");
        assert_passes(&hook, &hook.read(), &["state not read"]);
    }
}

/// Nothing can be written, so a denial would leave no way out.
#[test]
fn an_unwritable_state_passes() {
    let hook = Hook::begun();
    hook.fill(percent_in("narrow"));
    let lock = hook.places().session(&hook.session, "lock");
    fs::remove_file(&lock).expect("removed");
    fs::create_dir(&lock).expect("folder");
    for answer in
        [hook.read(), hook.bash("ls"), hook.batch(), hook.stop(), hook.stop(), hook.stop()]
    {
        assert!(answer.silent(), "{answer:?}");
    }
    assert!(!hook.journal("fault").is_empty());
}

/// The state folder of this user can't be made.
fn without_state() -> Hook {
    let mut hook = Hook::new();
    let file = hook.home.join("file");
    fs::write(&file, "").expect("written");
    hook.set("BRAIN_GUARD_STATE", file.join("state").to_str().expect("utf-8"));
    hook
}

#[test]
fn state_that_cannot_be_kept_is_told_and_blocks_nothing() {
    let hook = without_state();
    let said = hook.start("startup").user();
    for part in ["can't keep its state in", "file/state", "blocks nothing", "brain-guard doctor"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    hook.fill(percent_in("narrow"));
    assert!(hook.read().silent(), "told once");
    assert_eq!(hook.prompt("go on").user(), "");
    let status = hook.raw(&["status"], b"").stdout;
    assert!(
        status.contains("can't be written") && status.contains("nothing is blocked"),
        "{status}"
    );
    let doctor = hook.raw(&["doctor"], b"").stdout;
    assert!(doctor.contains("can't be written"), "{doctor}");
}

#[test]
fn without_a_home_the_user_reads_that_nothing_is_done() {
    let mut hook = Hook::new();
    hook.set("HOME", "");
    assert!(hook.start("startup").user().contains("HOME is not set"));
    assert!(hook.read().silent());
}

/// The agent could not write its notes, so it would have no way out.
#[test]
fn a_rule_of_the_users_against_our_verbs_lifts_the_blocks() {
    for (list, rule, lifts) in [
        ("deny", "Bash(cat:*)", true),
        ("ask", "Bash", true),
        ("deny", "Bash(brain-guard seal:*)", true),
        ("deny", "Bash(cat /etc/*)", false),
    ] {
        let rules = json!({"permissions": {list: [rule]}}).to_string();
        let hook = Hook::new();
        fs::write(hook.home.join(".claude/settings.json"), &rules).expect("written");
        let said = hook.start("startup").user();
        assert_eq!(said.contains(&format!("{list} {rule:?} in ")), lifts, "{said}");
        hook.fill(5.0);
        assert!(hook.read().silent(), "told once");
        hook.fill(percent_in("narrow"));
        assert_eq!(hook.read().verdict(), if lifts { "pass" } else { "deny" }, "{rule}");
        // A project's rule lifts nothing.
        let hook = Hook::new();
        fs::create_dir(hook.project.join(".claude")).expect("folder");
        fs::write(hook.project.join(".claude/settings.json"), &rules).expect("written");
        hook.begin();
        hook.fill(percent_in("narrow"));
        assert_eq!(hook.read().verdict(), "deny", "{rule}");
    }
}
