//! What is extracted and what stays.

use serde_json::{Value, json};

use super::world::{ID, Talk, World, long, plain};

/// Flat rows: `count` results, the last one `t9`.
fn flat(count: u32, characters: usize) -> String {
    let row = |n| {
        let first = json!({ "type": "user", "__id": "u0", "content": "go" });
        let row = json!({
            "type": "tool_result", "__id": format!("t{n}"),
            "output": long(&format!("output {n}"), characters),
        });
        if n == 0 { format!("{first}\n{row}\n") } else { format!("{row}\n") }
    };
    (0..count).map(row).collect()
}

/// A user with these rows, and no protected turns.
fn flat_rows() -> World {
    let world = World::of(&flat(10, 600));
    world.hook.settings(&json!({ "extract": { "protect_turns": 0 } }));
    world
}

fn is_out(row: &Value) -> bool {
    let id = row["__id"].as_str().expect("id");
    row["output"].as_str().is_some_and(|text| text.starts_with(&format!("[[extracted-{id}]]")))
}

#[test]
fn short_values_stay() {
    let world = flat_rows();
    let before = world.text();
    assert_eq!(world.extracts(&["--min-length", "601"]), 0);
    assert_eq!(world.text(), before);
    assert_eq!(world.extracts(&["--min-length", "600"]), 7);
}

#[test]
fn the_extractable_flag_decides_for_its_entry() {
    let world = flat_rows();
    for (entry, value) in [("t9", "true"), ("t0", "false"), ("t1", "9"), ("t2", "7")] {
        let told = world.json(&["set-extractable", ID, entry, value]);
        assert_eq!(told["entry_id"], entry);
        assert_eq!(world.row(entry)["_extractable"].to_string(), value);
    }
    assert_eq!(world.extracts(&[]), 6);
    let out: Vec<bool> = world.rows()[1..].iter().map(is_out).collect();
    // Eight messages follow t1, seven follow t2.
    assert_eq!(out, [false, false, true, true, true, true, true, false, false, true]);
    // Setting the same value again writes nothing; `none` removes it.
    let before = world.text();
    world.done(&["set-extractable", ID, "t0", "false"]);
    assert_eq!(world.text(), before);
    world.done(&["set-extractable", ID, "t0", "none"]);
    assert!(world.row("t0").get("_extractable").is_none());
    assert_eq!(world.extracts(&[]), 1);
    assert!(world.refused(&["set-extractable", ID, "t77", "true"]).contains("no entry t77"));
    assert!(world.refused(&["set-extractable", ID, "t1", "often"]).contains("`often`"));
    assert!(world.refused(&["set-extractable", ID, "t", "true"]).contains("several entries"));
}

#[test]
fn a_result_is_extracted_with_its_copy() {
    let world = World::of(&plain().text());
    let told = world.json(&["run", ID]);
    assert_eq!((&told["values"], &told["entries"]), (&2.into(), &1.into()));
    let row = world.row("aa000003");
    let text = row["message"]["content"][0]["text"].as_str().expect("text");
    for part in ["[[extracted-aa000003]] ", " of exec", "found the quick"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(row["message"]["details"]["aggregated"].as_str().expect("copy").len() < 600);
    assert_eq!(row["message"]["toolCallId"], "call_2");
    // Only that row differs.
    let before = plain().text();
    for (n, (old, new)) in before.lines().zip(world.text().lines()).enumerate() {
        assert_eq!(old == new, n != 3, "row {n}");
    }
}

#[test]
fn texts_are_extracted_and_pictures_stay() {
    let picture =
        json!({ "type": "image", "data": "aGVsbG8=".repeat(200), "mimeType": "image/png" });
    let result = json!([
        { "type": "text", "text": long("first", 2_000) },
        picture,
        { "type": "text", "text": long("second", 2_000) },
    ]);
    let talk = Talk::new().user("look").tool("shot", result.clone(), Value::Null).answer("seen");
    let talk = talk.user("a").answer("b").user("c").answer("d");
    let world = World::of(&talk.text());
    assert_eq!(world.extracts(&[]), 2);
    let content = world.row("aa000003")["message"]["content"].clone();
    assert_eq!(content[1], picture);
    for n in [0, 2] {
        assert!(content[n]["text"].as_str().expect("text").starts_with("[[extracted-aa000003]]"));
    }
    let one = world.done(&["restore", ID, "aa000003", "--key", "content.2"]);
    assert_eq!(one, long("second", 2_000) + "\n");
    world.done(&["restore", ID, "aa000003", "--in-place", "--key", "content.2"]);
    let content = world.row("aa000003")["message"]["content"].clone();
    assert_eq!(content[2], result[2]);
    assert!(content[0]["text"].as_str().expect("text").starts_with("[[extracted-"));
    world.done(&["restore", ID, "aa000003", "--in-place"]);
    assert_eq!(world.row("aa000003")["message"]["content"], result);
}

#[test]
fn signed_thinking_is_extracted_and_restored_whole() {
    let thinking =
        json!({ "type": "thinking", "thinking": long("hm", 3_000), "thinkingSignature": "c2ln" });
    let content = json!([thinking, { "type": "text", "text": "so" }]);
    let talk = Talk::new().user("think").assistant(content.clone()).user("a").answer("b");
    let before = talk.user("c").answer("d").text();
    let world = World::of(&before);
    assert_eq!(world.extracts(&[]), 1);
    let left = world.row("aa000002")["message"]["content"].clone();
    assert!(!left.to_string().contains("c2ln") && !left.to_string().contains("\"thinking\""));
    assert!(
        left[0]["text"].as_str().expect("text").starts_with("[[extracted-aa000002]]"),
        "{left}"
    );
    assert_eq!(world.extracts(&["--keep-recent", "0", "--type", "*"]), 0);
    assert_eq!(world.done(&["restore", ID, "aa000002"]), long("hm", 3_000) + "\n");
    world.done(&["restore", ID, "aa000002", "--in-place", "--unmarked"]);
    assert_eq!(world.text(), before);
}

#[test]
fn protected_tools_errors_and_the_first_words_stay() {
    let talk = Talk::new().user(&long("first words", 3_000)).exec(&long("kept", 3_000));
    let failed = json!({
        "role": "toolResult", "toolCallId": "call_2", "toolName": "exec", "isError": true,
        "content": [{ "type": "text", "text": long("failed", 3_000) }],
    });
    let talk = talk.message(failed).exec(&long("x", 100)).answer("a").user("b").answer("c");
    let world = World::of(&talk.user("d").answer("e").text());
    world.hook.settings(&json!({ "extract": { "protect": ["ex*"], "trigger_types": ["*"] } }));
    let plan = world.json(&["plan", ID]);
    assert_eq!(plan["items"], json!([]));
    assert_eq!(plan["stay"]["first"], 1);
    world.hook.settings(&json!({ "extract": { "trigger_types": ["tool_result"] } }));
    let plan = world.json(&["plan", ID]);
    assert_eq!(plan["stay"]["error"], 1);
    assert_eq!(plan["items"].as_array().expect("items").len(), 2, "{plan}");
}
