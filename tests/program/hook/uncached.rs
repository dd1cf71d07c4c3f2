//! What a resumed session says of the prompt cache that it has lost.

use std::fs;

use serde_json::{Value, json};

use crate::support::hook::Hook;

/// A session of Claude Code with twelve long results.
fn with_results() -> Hook {
    let hook = Hook::new();
    hook.begin();
    let mut parent = Value::Null;
    let mut text = String::new();
    for n in 0..12 {
        let (call, result) = (format!("a{n}"), format!("r{n}"));
        let mut row = |kind: &str, id: &str, message: Value| {
            let row = json!({
                "type": kind, "uuid": id, "parentUuid": parent, "isSidechain": false,
                "sessionId": hook.session, "timestamp": "2026-01-01T10:00:00.000Z", "message": message,
            });
            parent = id.into();
            text += &row.to_string();
            text.push('\n');
        };
        if n == 0 {
            row("user", "u0", json!({ "role": "user", "content": "look" }));
        }
        row(
            "assistant",
            &call,
            json!({
                "id": format!("msg_{n}"), "role": "assistant", "model": "claude-opus-5-5",
                "content": [{ "type": "tool_use", "id": format!("t{n}"), "name": "Bash", "input": {} }],
                "usage": { "input_tokens": 7, "cache_read_input_tokens": 5_000 * (n + 1), "output_tokens": 9 },
            }),
        );
        let output = format!("{n}: the quick brown fox jumps over it ").repeat(600);
        row(
            "user",
            &result,
            json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": format!("t{n}"), "content": output },
        ] }),
        );
    }
    fs::write(&hook.transcript, text).expect("transcript");
    hook
}

/// What the user reads above the prompt box when the client resumes the session.
fn resumed(hook: &Hook, tokens: &Value, expired: &Value) -> Value {
    let more = json!({
        "source": "resume", "context_tokens": tokens, "prompt_cache_likely_expired": expired,
    });
    hook.send(&hook.payload("SessionStart", &more));
    said(hook)
}

fn said(hook: &Hook) -> Value {
    let asked = json!({ "session_id": hook.session }).to_string();
    hook.raw(&["mod", "strip"], asked.as_bytes()).json()["say"].take()
}

#[test]
fn it_says_once_what_the_next_prompt_reads_anew() {
    let hook = with_results();
    let says = resumed(&hook, &60_000.into(), &true.into());
    let says = says.as_str().expect("a line");
    assert!(says.contains("your next prompt reads 60k tokens anew, or "), "{says}");
    assert!(says.contains(" after /brain-guard:extract"), "{says}");
    assert_eq!(said(&hook), Value::Null);
    assert_eq!(resumed(&hook, &60_000.into(), &true.into()), Value::Null, "once in a session");
}

#[test]
fn it_says_nothing_where_there_is_little_to_say() {
    for (tokens, expired) in [
        (json!(60_000), json!(false)),
        (json!(49_999), json!(true)),
        (json!(900_000), json!(true)),
        (json!(60_000), json!("true")),
        (json!("60000"), json!(true)),
        (json!(60_000.5), json!(true)),
        (Value::Null, json!(true)),
    ] {
        let hook = with_results();
        assert_eq!(resumed(&hook, &tokens, &expired), Value::Null, "{tokens} {expired}");
    }
    let hook = with_results();
    let more = json!({
        "source": "resume", "context_tokens": 60_000, "prompt_cache_likely_expired": true,
    });
    hook.send(&hook.payload("SessionStart", &more));
    hook.prompt("go on");
    assert_eq!(said(&hook), Value::Null, "it was read by then");
}
