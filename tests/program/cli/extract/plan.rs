//! `extract plan` and `extract context` report and change nothing.

use serde_json::{Value, json};

use super::world::{ID, Talk, World, long, plain};

#[test]
fn plan_says_why_nothing_goes_from_pis_first_format() {
    let header = json!({ "type": "session", "id": ID, "timestamp": "2025-11-20T10:00:00.000Z", "cwd": "/w" });
    let said =
        json!({ "type": "message", "message": { "role": "user", "content": long("said", 4_000) } });
    let world = World::of(&format!("{header}\n{said}\n"));
    let told = world.done(&["plan", ID]);
    assert!(told.contains("nothing to extract: no row has an id. pi gives ids"), "{told}");
}

#[test]
fn plan_lists_what_is_extracted_and_when_it_breaks_even() {
    let world = World::of(&plain().text());
    world.hook.settings(&json!({ "extract": { "min_saving": 0 } }));
    let before = world.text();
    let told = world.done(&["plan", "3f0a9d1e"]);
    for part in [
        ID,
        "(main), a file of pi or OpenClaw",
        "8 entries, 8 of them messages",
        "aa000003",
        "message.content.0.text",
        "message.details.aggregated",
        "found the quick brown fox",
        "can be extracted: 2 values in 1 entry",
        "the prompt cache has expired",
    ] {
        assert!(told.contains(part), "{part}:\n{told}");
    }
    let plan = world.json(&["plan", ID]);
    let items = plan["items"].as_array().expect("items");
    assert_eq!(items.len(), 2);
    assert_eq!((&items[0]["in_context"], &items[1]["in_context"]), (&true.into(), &false.into()));
    assert_eq!((&items[0]["line"], &items[0]["tool"]), (&4.into(), &"exec".into()));
    assert_eq!((&plan["bytes"], &plan["bytes_in_context"]), (&8_004.into(), &4_002.into()));
    assert_eq!(plan["verdict"], "cold");
    assert!((600..1_200).contains(&plan["tokens"].as_u64().expect("tokens")), "{plan}");
    assert_eq!((world.text(), world.kept().len()), (before, 0));
    // A dry run reports the same.
    assert_eq!(world.json(&["run", ID, "--dry-run"]), plan);
    assert_eq!(world.kept().len(), 0);
    // Expired cache: `when` makes no difference.
    world.hook.settings(&json!({ "extract": { "when": "interval" } }));
    assert!(world.done(&["plan", ID]).contains("the prompt cache has expired"));
}

#[test]
fn plan_marks_values_outside_the_context() {
    let talk = Talk::new().user("look").exec(&long("old", 3_000)).answer("seen");
    let compacted = talk.row(json!({
        "type": "compaction", "summary": "it was looked", "firstKeptEntryId": "aa000004",
        "tokensBefore": 5_000,
    }));
    let mut talk = compacted.user("again").exec(&long("new", 3_000)).answer("a");
    talk = talk.user("b").answer("c").user("d").answer("e");
    let world = World::of(&talk.text());
    let plan = world.json(&["plan", ID]);
    let sent = |id: &str| {
        let items = plan["items"].as_array().expect("items").iter();
        let of = items
            .filter(|item| item["entry_id"] == id && item["key"] != "message.details.aggregated");
        of.map(|item| item["in_context"].clone()).collect::<Vec<Value>>()
    };
    assert_eq!((sent("aa000003"), sent("aa000008")), (vec![json!(false)], vec![json!(true)]));
    // Two leaves: only the last row's branch is in the context.
    let fork = json!({
        "type": "message", "parentId": "aa000001",
        "message": { "role": "user", "content": "another way" },
    });
    let world = World::of(&plain().row(fork).answer("x").user("y").answer("z").text());
    let plan = world.json(&["plan", ID]);
    assert!(
        plan["items"].as_array().expect("items").iter().all(|item| item["in_context"] == false)
    );
    assert_eq!((&plan["bytes_in_context"], &plan["tokens"]), (&0.into(), &0.into()));
    // It is extracted all the same, and can be restored.
    let before = world.text();
    assert_eq!(world.extracts(&[]), 2);
    world.done(&["restore", ID, "all", "--in-place", "--unmarked"]);
    assert_eq!(world.text(), before);
}

#[test]
fn the_context_lists_what_is_extracted() {
    let world = World::of(&plain().text());
    assert!(world.done(&["context", ID]).contains("nothing of it is extracted"));
    world.done(&["run", ID]);
    let context = world.json(&["context", ID]);
    assert_eq!((&context["agent"], &context["session"]), (&"main".into(), &ID.into()));
    assert_eq!((&context["entries"], &context["messages"]), (&8.into(), &8.into()));
    assert_eq!(context["extracted_bytes"], 8_004);
    let lean = &context["extracted"][0];
    assert_eq!((&lean["entry_id"], &lean["tool"]), (&"aa000003".into(), &"exec".into()));
    assert_eq!(lean["values"][0]["key"], "message.content.0.text");
    assert!(lean.get("restored_at").is_none());
    let told = world.done(&["context", ID]);
    assert!(told.contains("aa000003 of exec: message.content.0.text (4.0 KB)"), "{told}");
    world.done(&["restore", ID, "aa000003"]);
    assert!(world.json(&["context", ID])["extracted"][0]["restored_at"].is_string());
    world.done(&["restore", ID, "aa000003", "--in-place"]);
    assert_eq!(world.json(&["context", ID])["extracted"], json!([]));
}
