//! `purge_control` on a session of pi's.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::SESSION;
use super::server::Server;
use crate::harness::Hook;

/// What the tool of the session below gave.
fn output() -> String {
    let lines: Vec<String> = (1..=200).map(|n| format!("line {n}: \"quoted\"\tand é\n")).collect();
    lines.concat()
}

/// A session of pi's that ended a while ago: a call whose result is long, and words after it.
fn pi(hook: &Hook) -> PathBuf {
    let message = |id: &str, parent: &str, message: Value| {
        json!({
            "type": "message", "id": id, "parentId": parent, "message": message,
            "timestamp": "2026-02-20T10:00:00.000Z",
        })
    };
    let assistant = |content: Value, stop: &str| {
        json!({
            "role": "assistant", "content": content, "stopReason": stop, "api": "anthropic-messages",
            "provider": "anthropic", "model": "claude-sonnet-4-5", "timestamp": 1,
            "usage": { "input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 3 },
        })
    };
    let call = json!([{ "type": "toolCall", "id": "call_1", "name": "exec", "arguments": { "command": "ls" } }]);
    let result = json!({
        "role": "toolResult", "toolCallId": "call_1", "toolName": "exec", "isError": false, "timestamp": 1,
        "content": [{ "type": "text", "text": output() }],
    });
    let user = |text: &str| json!({ "role": "user", "content": text, "timestamp": 1 });
    let words = |text: &str| assistant(json!([{ "type": "text", "text": text }]), "stop");
    let rows = [
        json!({
            "type": "session", "version": 3, "id": "0f0e0d0c-0000-4000-8000-000000000001",
            "timestamp": "2026-02-20T10:00:00.000Z", "cwd": hook.project,
        }),
        message("a0000001", "", user("look")),
        message("a0000002", "a0000001", assistant(call, "toolUse")),
        message("a0000003", "a0000002", result),
        message("a0000004", "a0000003", words("seen")),
        message("a0000005", "a0000004", user("and now?")),
        message("a0000006", "a0000005", words("nothing")),
        message("a0000007", "a0000006", user("good")),
        message("a0000008", "a0000007", words("done")),
    ];
    let text = rows.map(|row| row.to_string()).join("\n") + "\n";
    let path = hook.home.join("2026-02-20_0f0e0d0c.jsonl");
    fs::write(&path, text.replace("\"parentId\":\"\"", "\"parentId\":null")).expect("session");
    rest(&path);
    path
}

/// Nobody has written the file for an hour.
fn rest(path: &Path) {
    let at = SystemTime::now() - Duration::from_secs(3_600);
    fs::File::options().write(true).open(path).expect("there").set_modified(at).expect("aged");
}

#[test]
fn an_entry_comes_back_by_a_call_and_its_session_stays_as_it_is() {
    let hook = Hook::of(SESSION);
    let file = pi(&hook);
    let answer = hook.raw(&["extract", "run", file.to_str().expect("utf-8")], b"");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let lean = fs::read(&file).expect("session");
    assert!(lean.len() < 3_000, "{}", String::from_utf8_lossy(&lean));
    let mut server = Server::ready(&hook);
    let mut ask = |action: &str, more: Value| {
        let mut arguments = json!({ "action": action, "session": file });
        arguments
            .as_object_mut()
            .expect("object")
            .extend(more.as_object().expect("object").clone());
        server.call("purge_control", &arguments)
    };
    let (texts, is_error) = ask("get_context", json!({}));
    assert!(!is_error && texts.len() == 1, "{texts:?}");
    let context: Value = serde_json::from_str(&texts[0]).expect("JSON");
    let extracted = context["extracted"].as_array().expect("a list");
    assert_eq!(extracted.len(), 1, "{context}");
    assert_eq!(
        (&extracted[0]["entry_id"], &extracted[0]["tool"]),
        (&json!("a0000003"), &json!("exec"))
    );

    let (texts, is_error) = ask("restore", json!({ "entry_id": "[[extracted-a0000003]]" }));
    assert!(!is_error, "{texts:?}");
    let expected = json!({
        "restored": true, "entry_id": "a0000003", "keys_restored": ["message.content.0.text"],
    });
    assert_eq!(serde_json::from_str::<Value>(&texts[0]).expect("JSON"), expected);
    assert_eq!(texts[1..], [output()], "byte for byte");
    let (texts, _) = ask("restore", json!({ "entry_id": "a0000003", "keys": ["text"] }));
    let again: Value = serde_json::from_str(&texts[0]).expect("JSON");
    assert!(again["previous_restored_at"].is_string(), "{again}");
    assert!(again["suggestion"].as_str().is_some_and(|s| s.contains("_extractable")), "{again}");
    for (wrong, word) in [
        (json!({ "entry_id": "a0000001" }), "a0000001"),
        (json!({ "entry_id": "nothing" }), "a0000003"),
        (json!({ "entry_id": "a0000003", "keys": ["input"] }), "input"),
    ] {
        let (texts, is_error) = ask("restore", wrong);
        assert!(is_error && texts[0].contains(word), "{texts:?}");
    }
    assert_eq!(fs::read(&file).expect("session"), lean, "only read");

    rest(&file);
    let (texts, is_error) =
        ask("set_extractable", json!({ "entry_id": "a0000004", "value": false }));
    assert!(!is_error, "{texts:?}");
    assert_eq!(texts[0], r#"{"entry_id":"a0000004","extractable":false}"#);
    assert!(fs::read_to_string(&file).expect("session").contains("\"_extractable\":false"));
}
