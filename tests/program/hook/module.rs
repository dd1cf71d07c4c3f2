//! What the module tells that no hook did: a session whose hooks were all killed after the clear, and
//! agents that ended in a turn that was cut short.

use guard::files::job_files;
use serde_json::json;

use crate::kill::sessions::{cleared, clearing, moved, next, ok, pending, report};
use crate::support::hook::Hook;

fn token(hook: &Hook) -> Option<serde_json::Value> {
    let seen = hook.places().session(&hook.session, "json");
    let session: serde_json::Value = serde_json::from_slice(&std::fs::read(seen).ok()?).ok()?;
    let token = hook.places().token(session["token"].as_str()?);
    serde_json::from_slice(&std::fs::read(token).ok()?).ok()
}

fn with_carrier(hook: &Hook, carrier: &str) {
    let path = hook.places().token(token(hook).expect("a token")["id"].as_str().expect("an id"));
    let mut changed = token(hook).expect("a token");
    changed["carrier"] = json!(carrier);
    std::fs::write(path, changed.to_string()).expect("token");
}

#[test]
fn the_cleared_session_gets_its_notes_once() {
    let hook = next(clearing());
    assert_eq!(moved(&hook, "begun"), "submit");
    let token = token(&hook).expect("the new session has the token");
    assert_eq!((&token["step"], &token["child"]), (&json!("cleared"), &json!(hook.session)));
    assert_eq!(moved(&hook, "submitted"), "none");
    assert_eq!(moved(&hook, "begun"), "none", "and not again");
    let log = hook.raw(&["log", "--session", &hook.session], b"").stdout;
    assert_eq!(log.matches("session begun late").count(), 1, "{log}");
}

#[test]
fn a_session_that_was_not_cleared_into_is_left_alone() {
    let sealed_only = next(pending());
    assert_eq!(moved(&sealed_only, "begun"), "none");
    assert!(token(&sealed_only).is_none());

    let other_carrier = clearing();
    with_carrier(&other_carrier, "tmux");
    let other_carrier = next(other_carrier);
    assert_eq!(moved(&other_carrier, "begun"), "none");
    assert!(token(&other_carrier).is_none());
}

#[test]
fn an_agent_that_ended_in_a_turn_that_was_cut_short_is_not_waited_for() {
    let hook = pending();
    let path = hook.places().session(&hook.session, "json");
    let mut session: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).expect("state")).expect("JSON");
    session["background"] = json!({"agents": 1});
    std::fs::write(&path, session.to_string()).expect("state");
    let ended = |agents: Option<u32>| {
        let mut report = report(&hook, "turn-complete");
        report["agents"] = json!(agents);
        let answer = hook.raw(&["mod", "step"], report.to_string().as_bytes()).json();
        answer["action"].as_str().expect("an action").to_owned()
    };
    assert_eq!(ended(None), "wait");
    assert_eq!(ended(Some(1)), "wait");
    assert_eq!(ended(Some(0)), "clear");
}

/// The client keeps a prompt that comes in a turn until its end, and the session may have sealed by
/// then.
#[test]
fn a_delivery_that_arrives_late_is_not_taken_for_words_of_the_user() {
    let hook = cleared();
    let answer = hook.raw(&["mod", "step"], report(&hook, "cleared").to_string().as_bytes()).json();
    let delivery = answer["text"].as_str().expect("a text").to_owned();
    ok(&hook.prompt(&delivery));
    ok(&hook.prompt("now the lexer"));
    ok(&hook.agent("brain-guard append --kind thread 'the lexer drops CRLF'"));
    ok(&hook.agent("brain-guard seal --clear --summary 'the lexer is under way'"));
    let first = token(&hook).expect("a token");
    assert_eq!(first["parent"], json!(hook.session), "the next boundary waits");
    ok(&hook.prompt(&delivery));
    let job = first["job"].as_str().expect("a job");
    let kept = std::fs::read_to_string(job_files::prompts_path(&hook.places(), job));
    let kept = kept.expect("the user's prompts");
    assert!(kept.contains("now the lexer") && !kept.contains("compaction file"), "{kept}");
}

/// A turn of the client's own, such as a report of a background task, has no prompt that the notes
/// could come with.
#[test]
fn a_turn_that_began_without_the_notes_gets_them_at_its_end() {
    let hook = cleared();
    hook.fill(5.0);
    assert_eq!(hook.bash("ls").verdict(), "pass");
    ok(&hook.stop());
    assert_eq!(moved(&hook, "turn-complete"), "submit");
    assert_eq!(moved(&hook, "submitted"), "none");
    assert_eq!(moved(&hook, "turn-complete"), "none", "once");
}

/// A turn whose call the user refused has no Stop.
#[test]
fn a_turn_that_was_refused_is_over_and_a_later_one_is_not() {
    let turn = |hook: &Hook| hook.state()["turn"].clone();
    let ended = |hook: &Hook, more: serde_json::Value| {
        let mut report = report(hook, "turn-complete");
        report.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
        hook.raw(&["mod", "step"], report.to_string().as_bytes());
    };
    let now = || base::clock::now().timestamp_millis();
    let hook = Hook::begun();
    let before = now();
    hook.prompt("go");
    ended(&hook, json!({ "answered": true, "at": before - 1 }));
    assert!(turn(&hook).is_string(), "the report was of an earlier turn");
    ended(&hook, json!({ "answered": true, "at": now() + 1 }));
    assert!(turn(&hook).is_null() && hook.state()["over"].is_string());
    let dialog = |hook: &Hook| {
        hook.prompt("go on");
        let more = json!({ "notification_type": "permission_prompt", "message": "May it?" });
        hook.send(&hook.payload("Notification", &more));
    };
    dialog(&hook);
    ended(&hook, json!({ "answered": true, "at": now() + 1, "agents": 1 }));
    assert!(hook.state()["dialog"].is_array(), "it may be the agent's");
    dialog(&hook);
    ended(&hook, json!({ "answered": true, "is_aborted": true, "at": now() + 1, "agents": 1 }));
    assert!(hook.state()["dialog"].is_null() && turn(&hook).is_null());
}
