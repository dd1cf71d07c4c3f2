//! `validate`: its findings, and how it ends.

use std::fs;

use serde_json::Value;

use crate::support::hook::Hook;

const ID: &str = "11111111-1111-4111-8111-111111111111";

fn row(kind: &str, number: u32, parent: &str, message: &str) -> String {
    format!(
        r#"{{"parentUuid":{parent},"type":"{kind}","message":{message},"uuid":"{ID}{number}","timestamp":"2026-03-19T10:00:0{number}.000Z","sessionId":"{ID}"}}"#
    ) + "\n"
}

fn sound() -> String {
    [
        row("user", 1, "null", r#"{"role":"user","content":"go"}"#),
        row(
            "assistant",
            2,
            &format!("\"{ID}1\""),
            r#"{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"X","input":{}}]}"#,
        ),
    ]
    .concat()
}

#[test]
fn validate_accepts_open_calls_unless_strict() {
    let hook = Hook::new();
    let file = hook.places().project.join(format!("{ID}.jsonl"));
    let path = file.to_str().expect("utf-8");
    fs::write(&file, sound()).expect("file");
    let answer = hook.raw(&["validate", path], b"");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let expected = [
        "warning: line 2: call-open: the call t has no result\n",
        "sound: 2 lines, 2 rows in the chain, 1 message of the agent, 1 tool call",
    ];
    assert!(expected.iter().all(|part| answer.stdout.contains(part)), "{}", answer.stdout);
    let answer = hook.raw(&["validate", "--strict", "--json", path], b"");
    let told: Value = serde_json::from_str(&answer.stdout).expect("JSON");
    assert_eq!((answer.code, &told["sound"]), (Some(1), &Value::from(false)));
    assert_eq!(told["list"][0]["rule"], "call-open");
    assert_eq!((&told["list"][0]["level"], &told["lines"]), (&"error".into(), &2.into()));
}

#[test]
fn validate_distinguishes_files_that_are_no_session() {
    let hook = Hook::new();
    let folder = hook.places().project;
    let file = folder.join("x.jsonl");
    let path = file.to_str().expect("utf-8");
    for (text, rule) in [
        (String::new(), "nothing"),
        (sound() + "{\"torn\n", "json"),
        (sound().replace("null", "\"gone\""), "chain"),
        (sound() + &sound(), "uuid-twice"),
    ] {
        fs::write(&file, &text).expect("file");
        let answer = hook.raw(&["validate", path], b"");
        assert_eq!(answer.code, Some(1), "{rule}: {answer:?}");
        assert!(answer.stdout.contains(&format!(": {rule}: ")), "{rule}: {}", answer.stdout);
    }
    let missing = hook.raw(&["validate", "gone.jsonl"], b"");
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.contains("there is no file gone.jsonl; name"), "{}", missing.stderr);
    let of_folder = hook.raw(&["validate", folder.to_str().expect("utf-8")], b"");
    assert!(of_folder.stderr.contains("is not a file; name a session's"), "{}", of_folder.stderr);
}
