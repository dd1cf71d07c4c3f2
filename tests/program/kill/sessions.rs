//! Sessions in the starting states of the operations.

use std::fs;

use serde_json::{Value, json};

use crate::support::hook::{Answer, Hook, fixtures, percent_in};

pub fn begun() -> Hook {
    let hook = Hook::new();
    hook.settings(&json!({"boundary": {
        "min_interval_seconds": 0, "max_per_hour": 10_000, "attended_notice_seconds": 0,
    }}));
    hook.begin();
    hook
}

/// A session with notes, in the narrow tier.
pub fn worked() -> Hook {
    let hook = begun();
    for (kind, note) in [
        ("directive", "write the migration before anything else"),
        ("thread", "the parser still fails on CRLF"),
        ("lesson", "the first plan was too big; the tests showed it"),
    ] {
        ok(&hook.agent(&format!("brain-guard append --kind {kind} '{note}'")));
    }
    hook.fill(percent_in("narrow"));
    assert_eq!(hook.read().verdict(), "deny");
    hook
}

/// [`worked`] with a large untidy file, sealed once before.
pub fn messy() -> Hook {
    let hook = worked();
    ok(&hook.agent("brain-guard seal --no-clear --summary 'the parser is under way'"));
    let text = fs::read_to_string(fixtures().join("compaction/hand-made-3000-words.md"));
    fs::write(hook.file(), text.expect("fixture")).expect("file");
    hook
}

/// [`worked`] on a named job.
pub fn named() -> Hook {
    let hook = worked();
    ok(&hook.agent("brain-guard job focus parser --no-clear"));
    hook.stop();
    hook
}

/// Sealed, but no hook has seen it yet.
pub fn sealed() -> Hook {
    let hook = worked();
    ok(&hook.raw(
        &["seal", "--clear", "--summary", "the parser is done", "--session", &hook.session],
        b"",
    ));
    hook
}

/// With a token, the turn still running.
pub fn pending() -> Hook {
    let hook = sealed();
    ok(&hook.stop());
    hook
}

/// The module is about to clear.
pub fn clearing() -> Hook {
    let hook = pending();
    assert_eq!(moved(&hook, "turn-complete"), "clear");
    hook
}

pub fn next(mut hook: Hook) -> Hook {
    hook.session = "5e550000-0000-4000-8000-000000000002".into();
    let session = hook.session.clone();
    hook.set("CLAUDE_CODE_SESSION_ID", &session);
    hook
}

pub fn cleared() -> Hook {
    let hook = next(clearing());
    ok(&hook.start("clear"));
    hook
}

pub fn submitting() -> Hook {
    let hook = cleared();
    assert_eq!(moved(&hook, "cleared"), "submit");
    hook
}

pub fn ok(answer: &Answer) {
    assert_eq!(answer.code, Some(0), "{answer:?}");
}

pub fn report(hook: &Hook, event: &str) -> Value {
    json!({"event": event, "answered": true, "session_id": hook.session})
}

pub fn moved(hook: &Hook, event: &str) -> String {
    let answer = hook.raw(&["mod", "step"], report(hook, event).to_string().as_bytes());
    answer.json()["action"].as_str().expect("an action").to_owned()
}
