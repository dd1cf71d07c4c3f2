//! `purge_control` on sessions of pi and Claude Code.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::SESSION;
use super::server::Server;
use crate::support::hook::Hook;

/// The tool result in the session below.
fn output() -> String {
    let lines: Vec<String> = (1..=200).map(|n| format!("line {n}: \"quoted\"\tand é\n")).collect();
    lines.concat()
}

/// A pi session that ended a while ago: a call with a long result, then text.
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
    make_idle(&path);
    path
}

/// Dates the file an hour back.
fn make_idle(path: &Path) {
    let at = SystemTime::now() - Duration::from_secs(3_600);
    fs::File::options().write(true).open(path).expect("there").set_modified(at).expect("aged");
}

#[test]
fn a_restore_call_prints_an_entry_and_changes_no_session() {
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
}

/// Opens the file and dates it now, like a client whose agent is asking.
fn hold_open(path: &Path) -> fs::File {
    let file = fs::File::options().append(true).open(path).expect("there");
    file.set_modified(SystemTime::now()).expect("written now");
    file
}

/// The ids of the entries that a run would extract.
fn planned_entries(hook: &Hook, session: &str) -> Vec<String> {
    let answer = hook.raw(&["extract", "plan", session, "--json"], b"");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let plan: Value = serde_json::from_str(&answer.stdout).expect("JSON");
    let items = plan["items"].as_array().expect("a list").iter();
    items.map(|item| item["entry_id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn an_agent_sets_the_flag_in_its_own_live_session() {
    let hook = Hook::of(SESSION);
    let file = pi(&hook);
    let name = file.to_str().expect("utf-8");
    let mut server = Server::ready(&hook);
    let mut ask = |action: &str, more: Value| -> Value {
        let mut arguments = json!({ "action": action, "session": file });
        arguments
            .as_object_mut()
            .expect("object")
            .extend(more.as_object().expect("object").clone());
        let (texts, is_error) = server.call("purge_control", &arguments);
        assert!(!is_error, "{texts:?}");
        serde_json::from_str(&texts[0]).expect("JSON")
    };
    assert_eq!(planned_entries(&hook, name), ["a0000003"]);
    let open = hold_open(&file);
    let before = fs::read(&file).expect("session");
    let context = ask("get_context", json!({}));
    assert_eq!(context["said"], json!([]), "{context}");
    assert_eq!(context["long"][0]["entry_id"], "a0000003", "{context}");
    assert!(context["long"][0]["begins"].as_str().expect("text").starts_with("line 1: "));

    let answer = ask("set_extractable", json!({ "entry_id": "a0000003", "value": false }));
    assert_eq!((&answer["entry_id"], &answer["extractable"]), (&"a0000003".into(), &false.into()));
    assert!(answer["in_ledger"].as_str().is_some_and(|why| why.contains(name)), "{answer}");
    assert_eq!(fs::read(&file).expect("session"), before, "it is not written");
    let context = ask("get_context", json!({}));
    assert_eq!(context["said"], json!([{ "entry_id": "a0000003", "extractable": false }]));
    assert!(planned_entries(&hook, name).is_empty());

    // The latest value counts; it goes into the row once the session is idle.
    ask("set_extractable", json!({ "entry_id": "a0000003", "value": 2 }));
    assert_eq!(planned_entries(&hook, name), ["a0000003"]);
    drop(open);
    make_idle(&file);
    let answer = ask("set_extractable", json!({ "entry_id": "a0000003", "value": false }));
    assert_eq!(answer, json!({ "entry_id": "a0000003", "extractable": false }));
    assert!(fs::read_to_string(&file).expect("session").contains("\"_extractable\":false"));
    assert!(planned_entries(&hook, name).is_empty());
    // The row has the flag now, so a change there counts.
    let text = fs::read_to_string(&file).expect("session");
    fs::write(&file, text.replace("\"_extractable\":false", "\"_extractable\":true")).expect("it");
    make_idle(&file);
    assert_eq!(planned_entries(&hook, name), ["a0000003"]);
}

#[test]
fn a_claude_code_agent_sets_the_flag_without_a_session_write() {
    let hook = Hook::of(SESSION);
    let row = |uuid: &str, parent: Value, kind: &str, message: Value| {
        json!({
            "parentUuid": parent, "isSidechain": false, "userType": "external", "type": kind,
            "cwd": hook.project, "sessionId": SESSION, "version": "2.1.329", "uuid": uuid,
            "message": message, "timestamp": "2026-03-19T10:00:00.000Z",
        })
    };
    let user = |content: Value| json!({ "role": "user", "content": content });
    let assistant = |id: &str, content: Value| {
        json!({
            "id": id, "type": "message", "role": "assistant", "model": "claude-opus-5-5",
            "content": content, "stop_reason": "end_turn",
            "usage": { "input_tokens": 100, "output_tokens": 20 },
        })
    };
    let call =
        json!([{ "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "ls" } }]);
    let result = json!([{ "type": "tool_result", "tool_use_id": "t1", "content": output() }]);
    let words = |text: &str| json!([{ "type": "text", "text": text }]);
    let mut text = String::new();
    let mut parent = Value::Null;
    for (uuid, kind, message) in [
        ("c1-user", "user", user("look".into())),
        ("c2-call", "assistant", assistant("msg_1", call)),
        ("c3-result", "user", user(result)),
        ("c4-words", "assistant", assistant("msg_2", words("seen"))),
        ("c5-user", "user", user("and now?".into())),
        ("c6-words", "assistant", assistant("msg_3", words("nothing"))),
        ("c7-user", "user", user("good".into())),
        ("c8-words", "assistant", assistant("msg_4", words("done"))),
    ] {
        text += &row(uuid, parent, kind, message).to_string();
        text.push('\n');
        parent = uuid.into();
    }
    fs::write(&hook.transcript, &text).expect("transcript");
    assert_eq!(planned_entries(&hook, SESSION), ["c3-result"]);
    let _open = hold_open(&hook.transcript);
    let mut server = Server::ready(&hook);
    // Without a name, the session is the client's.
    let asked = json!({ "action": "set_extractable", "entry_id": "c3", "value": false });
    let answer: Value =
        serde_json::from_str(&server.done("purge_control", &asked)[0]).expect("JSON");
    assert_eq!((&answer["entry_id"], &answer["extractable"]), (&"c3-result".into(), &false.into()));
    assert!(answer["in_ledger"].as_str().is_some_and(|why| why.contains("never changed")));
    assert!(planned_entries(&hook, SESSION).is_empty());
    let context = server.done("purge_control", &json!({ "action": "get_context" })).concat();
    assert!(
        context.contains(r#""said":[{"entry_id":"c3-result","extractable":false}]"#),
        "{context}"
    );
    let made = hook.raw(&["extract", "run", SESSION, "--json"], b"");
    assert!(made.stdout.contains(r#""extracted": []"#), "{made:?}");
    assert_eq!(fs::read_to_string(&hook.transcript).expect("transcript"), text);
}
