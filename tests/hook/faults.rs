//! Faults of every kind at 31 %, where a sound hook would deny: the call goes on,
//! nothing is said, and the log holds a line wherever there is a place for one.

use std::fs;

use serde_json::json;

use crate::harness::{Answer, Hook, percent_in};

/// The call passes with these lines of fault in the log.
fn assert_passes(hook: &Hook, answer: &Answer, faults: &[&str]) {
    assert!(answer.silent(), "{answer:?}");
    let logged: Vec<String> =
        hook.log("fault").iter().map(|l| l["what"].as_str().expect("what").to_owned()).collect();
    assert_eq!(logged, faults);
}

#[test]
fn what_is_not_json() {
    for bytes in [&b""[..], b"{", b"no", b"\0", b"{\"session_id\":\"\xff\xfe\"}", b"{}{}"] {
        let hook = Hook::climbed(percent_in("narrow"));
        assert_passes(&hook, &hook.raw(&["hook"], bytes), &["payload is not JSON"]);
    }
}

/// A client newer than we are is no fault of anybody's.
#[test]
fn json_of_another_shape_is_no_opinion() {
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

/// It may just be late, or a folder, or gone for good: said once a session.
#[test]
fn a_transcript_that_can_not_be_read() {
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
fn a_half_written_state() {
    for damage in [&b"{\"job\":\"x\",\"ran"[..], b"", b"\0\0\0", b"{\"job\":7}"] {
        let hook = Hook::climbed(percent_in("narrow"));
        fs::write(hook.places().session(&hook.session, "json"), damage).expect("damage");
        assert_passes(&hook, &hook.read(), &["state not read"]);
    }
}

#[test]
fn a_state_that_can_not_be_read() {
    let hook = Hook::climbed(percent_in("narrow"));
    let path = hook.places().session(&hook.session, "json");
    fs::remove_file(&path).expect("removed");
    fs::create_dir(&path).expect("folder");
    let answer = hook.read();
    assert!(answer.silent(), "{answer:?}");
    assert_eq!(hook.log("fault")[0]["what"], "state not read");
}

/// Nothing can be written down any more: a denial would have no way out.
#[test]
fn a_state_that_can_not_be_written() {
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
    assert!(!hook.log("fault").is_empty());
}

#[test]
fn no_place_for_state_at_all() {
    let mut hook = Hook::new();
    hook.fill(percent_in("narrow"));
    hook.set("XDG_STATE_HOME", "/dev/null/state");
    for answer in [
        hook.start("startup"),
        hook.read(),
        hook.bash("ls"),
        hook.batch(),
        hook.stop(),
        hook.stop(),
    ] {
        assert!(answer.silent(), "{answer:?}");
    }
}

#[test]
fn no_home() {
    let mut hook = Hook::climbed(percent_in("narrow"));
    hook.set("HOME", "");
    assert!(hook.read().silent() && hook.stop().silent());
    assert!(hook.raw(&["hook"], b"{").silent());
}

#[test]
fn settings_that_can_not_be_read() {
    let hook = Hook::begun();
    let path = hook.places().user_settings;
    fs::create_dir_all(&path).expect("a folder in its place");
    hook.fill(percent_in("narrow"));
    assert_eq!(hook.read().verdict(), "deny", "the defaults hold");
    let status = hook.raw(&["status", "--json"], b"").json();
    assert_eq!(status["stance"], "narrow");
}

#[test]
fn a_subagent_passes_whatever_the_main_conversation_holds() {
    let hook = Hook::climbed(percent_in("narrow"));
    for (tool, input) in [
        ("Read", json!({"file_path": "/etc/hostname"})),
        ("Bash", json!({"command": "ls"})),
        ("Agent", json!({"prompt": "p"})),
    ] {
        let mut call = hook.call(tool, &input);
        call["agent_id"] = "a57d1be77952c40a2".into();
        assert_passes(&hook, &hook.send(&call), &[]);
    }
}

#[test]
fn unknown_arguments_are_let_go() {
    let hook = Hook::climbed(percent_in("narrow"));
    let call = hook.call("Read", &json!({"file_path": "/etc/hostname"})).to_string();
    assert!(hook.raw(&["hook", "--of-a-later-version"], call.as_bytes()).silent());
}
