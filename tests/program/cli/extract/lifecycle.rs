//! Extract, restore, protect, extract again, and what protects a value meanwhile.
#![allow(clippy::format_collect, reason = "a row is a line")]

use chrono::{SecondsFormat, TimeDelta, Utc};
use serde_json::{Value, json};

use super::world::{ID, Talk, World, long, plain};

/// The timestamp so many seconds ago, in the format of entries.
fn ago(seconds: i64) -> Value {
    (Utc::now() - TimeDelta::seconds(seconds)).to_rfc3339_opts(SecondsFormat::Millis, true).into()
}

#[test]
fn flat_rows_survive_the_full_lifecycle() {
    let thought = long("I think", 2_000);
    let thinking = json!({ "type": "thinking", "__id": "k1", "thinking": thought });
    let user = |n: u32| json!({ "type": "user", "__id": format!("u{n}"), "content": "go on" });
    let rows = [thinking, user(1), user(2), user(3)];
    let world = World::of(&rows.iter().map(|row| format!("{row}\n")).collect::<String>());
    // No turn is protected, so that the only value can be extracted.
    world.hook.settings(&json!({ "extract": { "protect_turns": 0 } }));
    let is_extracted = || {
        let row = world.row("k1");
        row["thinking"].as_str().expect("text").starts_with("[[extracted-k1]] 2.0 KB #")
    };
    assert_eq!(world.extracts(&[]), 1);
    assert!(is_extracted());
    let told = world.json(&["restore", ID, "k1", "--in-place"]);
    assert_eq!((&told["restored"], &told["entry_id"]), (&true.into(), &"k1".into()));
    assert_eq!(told["keys_restored"], json!(["thinking"]));
    assert!(told.get("suggestion").is_none() && told.get("previous_restored_at").is_none());
    let row = world.row("k1");
    assert_eq!(row["thinking"], thought.as_str());
    assert!(row["_restored"].as_str().expect("time").ends_with('Z'));
    assert_eq!(world.extracts(&[]), 0);
    world.set("k1", "_restored", ago(11 * 60));
    assert_eq!(world.extracts(&[]), 1);
    assert!(is_extracted());
    // A value restored before is restored again, with a suggestion.
    let marked = world.row("k1")["_restored"].clone();
    let told = world.json(&["restore", ID, "k1", "--in-place"]);
    assert_eq!(told["restored"], true);
    assert!(told["previous_restored_at"].is_string(), "{told} {marked}");
    assert!(told["suggestion"].as_str().expect("words").contains("_extractable: false"));
    assert_eq!(world.row("k1")["thinking"], thought.as_str());
}

#[test]
fn a_restored_value_is_protected_for_a_while() {
    // Seconds since the restore, seconds protected, the entry's flag; is it extracted?
    for (restored, keep, says, goes) in [
        (300, 600, Value::Null, false),
        (900, 600, Value::Null, true),
        (30, 30, Value::Null, true),
        (60, 600, json!(true), true),
        (3_600, 600, json!(false), false),
    ] {
        let world = World::of(&plain().text());
        world.hook.settings(&json!({ "extract": { "keep_after_restore_seconds": keep } }));
        world.set("aa000003", "_restored", ago(restored));
        if !says.is_null() {
            world.set("aa000003", "_extractable", says.clone());
        }
        let plan = world.json(&["plan", ID]);
        assert_eq!(plan["items"] != json!([]), goes, "{restored} {keep} {says}: {plan}");
        assert_eq!(world.extracts(&[]) > 0, goes, "{restored} {keep} {says}");
    }
    let world = World::of(&plain().text());
    world.set("aa000003", "_restored", json!("2026-02-20T10:00:00Z"));
    assert_eq!(world.extracts(&[]), 2);
    let told = world.json(&["restore", ID, "aa000003"]);
    assert_eq!(told["previous_restored_at"], "2026-02-20T10:00:00Z");
    assert!(told["suggestion"].as_str().expect("words").contains("_extractable: false"));
}

#[test]
fn a_second_run_changes_nothing() {
    let world = World::of(&plain().text());
    let first = world.done(&["run", ID]);
    assert!(first.contains("extracted 2 values of 1 entry"), "{first}");
    let (text, kept) = (world.text(), world.kept());
    let time = || world.file().metadata().expect("file").modified().expect("time");
    let before = time();
    let second = world.done(&["run", ID]);
    assert!(second.contains("nothing to extract"), "{second}");
    assert_eq!((world.text(), world.kept(), time()), (text, kept, before));
    assert!(world.done(&["plan", ID]).contains("2 extracted already"));
}

#[test]
fn restore_returns_the_session_byte_for_byte() {
    let odd = "half \u{1f600} of a pair, \"quotes\", \\ and \u{e9}".repeat(40);
    let escaped = r"\u00e9\/\ud83d\ude00 \ud83d alone ".repeat(60);
    let talk = Talk::new().user("look").exec(&odd).exec(&long("b", 2_000)).answer("x");
    let text = talk.user("a").answer("b").user("c").answer("d").text();
    // Escapes as another program writes them, an unknown field, broken rows, CRLF, no final
    // newline.
    let text = text.replacen(
        &serde_json::to_string(&long("b", 2_000)).expect("JSON"),
        &format!("\"{escaped}\""),
        1,
    );
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[3] = lines[3].replacen('{', "{ \"x\" : [1, 2.50,  1e3] , ", 1);
    lines.insert(4, "{\"type\":\"message\",\"broken".to_owned());
    lines.insert(5, String::new());
    let text = lines.join("\r\n");
    let world = World::of(&text);
    assert_eq!(world.extracts(&[]), 4);
    let lean = world.text();
    assert!(lean.len() < text.len() && lean.contains("[1, 2.50,  1e3]"), "{lean}");
    assert_eq!(lean.matches("\r\n").count(), text.matches("\r\n").count());
    let told = world.json(&["restore", ID, "all", "--in-place", "--unmarked"]);
    assert_eq!(told.as_array().expect("a list").len(), 2);
    assert_eq!(world.text(), text);
    // With marks, only the marks differ.
    assert_eq!(world.extracts(&[]), 4);
    world.done(&["restore", ID, "all", "--in-place"]);
    let marked = world.text();
    let at = marked.find(",\"_restored\":\"").expect("a mark");
    let end = at + marked[at..].find("Z\"").expect("its end") + 2;
    let mark = marked[at..end].to_owned();
    assert_eq!(marked.replace(&mark, ""), text);
}

#[test]
fn restore_calls_are_redacted_as_the_settings_say() {
    let call = json!([{
        "type": "toolCall", "id": "call_r", "name": "purge_control",
        "arguments": { "action": "restore", "entry_id": "aa000003", "keys": ["content"] },
    }]);
    let given = json!({
        "role": "toolResult", "toolCallId": "call_r", "toolName": "purge_control",
        "content": [{ "type": "text", "text": "restored" }], "isError": false,
    });
    let text = plain().assistant(call).message(given).answer("thanks").text();
    for keep in [false, true] {
        let world = World::of(&text);
        world.hook.settings(&json!({ "extract": { "keep_purge_control_calls": keep } }));
        assert_eq!(world.extracts(&[]), 2);
        let told = world.json(&["restore", ID, "aa000003", "--in-place"]);
        assert_eq!(told["redacted"], !keep);
        let row = world.row("aa000009");
        assert_eq!(row.get("_redacted").is_some(), !keep, "{row}");
        let call = &row["message"]["content"][0];
        assert_eq!((&call["id"], &call["name"]), (&"call_r".into(), &"purge_control".into()));
        if !keep {
            assert_eq!(call["arguments"], json!({ "action": "restore", "entry": "aa000003" }));
        }
    }
}

#[test]
fn every_extraction_and_restore_is_logged_with_its_fields() {
    let mut world = World::of(&plain().text());
    world.hook.set("BRAIN_GUARD_LOG", "debug");
    let records = |answer: crate::support::hook::Answer| -> Vec<Value> {
        let lines = answer.stderr.lines().map(|l| serde_json::from_str(l).expect("JSON"));
        lines.filter(|line: &Value| line.to_string().contains("\"extraction\"")).collect()
    };
    let out = records(world.run(&["run", ID]));
    let back = records(world.run(&["restore", ID, "aa000003", "--in-place"]));
    let keys = ["message.content.0.text", "message.details.aggregated"];
    for (all, name) in [(out, "keys_extracted"), (back, "keys_restored")] {
        let [record] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(record[name], json!(keys), "{record}");
        assert_eq!(record["entry_id"], "aa000003");
        assert_eq!(record["sizes_bytes"][keys[0]], 4_002);
        assert_eq!(record["session"], format!("main/{ID}"));
    }
}

/// A live session stays as it is; the call is redacted when the session is written next.
#[test]
fn a_printed_restore_is_redacted_by_the_next_run() {
    let world = World::of(&plain().text());
    assert_eq!(world.extracts(&[]), 2);
    let call = json!([{
        "type": "toolCall", "id": "call_r", "name": "purge_control",
        "arguments": { "action": "restore", "entry_id": "aa000003", "keys": ["content"] },
    }]);
    let given = json!({
        "role": "toolResult", "toolCallId": "call_r", "toolName": "purge_control",
        "content": [{ "type": "text", "text": "restored" }], "isError": false,
    });
    // The client appended a call and a result to extract.
    let more = plain().assistant(call).message(given).exec(&long("more", 4_000)).answer("seen");
    let more = more.user("go on").answer("done").user("and?").answer("that").text();
    let later: Vec<&str> = more.lines().skip(plain().text().lines().count()).collect();
    world.write(&format!("{}{}\n", world.text(), later.join("\n")));
    let asked = world.row("aa000009");

    assert!(world.done(&["restore", ID, "aa000003", "--key", "content"]).contains("found"));
    assert_eq!(world.row("aa000009"), asked, "nothing is written for a redaction alone");
    let told = world.json(&["run", ID]);
    assert_eq!((&told["values"], &told["redacted"]), (&json!(2), &json!(1)), "{told}");
    let row = world.row("aa000009");
    assert_eq!(row["_redacted"], true);
    let left = json!({ "action": "restore", "entry": "aa000003" });
    assert_eq!(row["message"]["content"][0]["arguments"], left);
    assert_eq!(row["message"]["content"][0]["id"], "call_r");
    assert_eq!(world.json(&["run", ID])["redacted"], 0, "once");
}
