//! `extract decide` and `extract keep`, and sessions that pi edits by rows of its own.

use serde_json::{Value, json};

use super::world::{ID, World, long, plain};

/// The session with pi's edits for what was decided.
fn edited(world: &World, decision: &Value) -> String {
    let entries = decision["entries"].as_array().expect("entries");
    let rows = entries.iter().enumerate().map(|(n, lean)| {
        let row = json!({
            "type": "context_edit", "id": format!("ee{n:06}"), "parentId": "aa000008",
            "timestamp": "2026-02-20T11:00:00.000Z", "targetId": lean["entry_id"],
            "replacement": { "content": lean["content"] },
        });
        format!("{row}\n")
    });
    world.text() + &rows.collect::<String>()
}

#[test]
fn a_plugin_masks_what_was_decided_and_the_session_reads_so() {
    let world = World::of(&plain().text());
    world.hook.settings(&json!({ "extract": { "min_saving": 0 } }));
    let before = world.text();
    let decision = world.json(&["decide", ID]);
    let lean = &decision["entries"][0];
    let text = lean["content"][0]["text"].as_str().expect("text");
    assert!(text.starts_with("[[extracted-aa000003]] 4.0 KB of exec: «found"), "{text}");
    assert_eq!((&decision["acts"], &decision["values"]), (&true.into(), &1.into()), "{decision}");
    assert_eq!((world.text(), world.kept().len()), (before.clone(), 0), "it only decides");
    assert_eq!(world.json(&["keep", ID]), decision);
    assert_eq!(world.text(), before, "pi writes its sessions itself");
    assert_ne!(world.kept().len(), 0);
    world.write(&edited(&world, &decision));
    let text = world.text();
    assert!(world.done(&["context", ID]).contains("aa000003 of exec"));
    assert_eq!(world.json(&["decide", ID])["values"], 0);
    let told = world.done(&["plan", ID]);
    // The copy that pi shows is sent to nobody.
    assert!(told.contains("1 extracted already") && told.contains("0 B of that is in"), "{told}");
    let back = world.done(&["restore", ID, "aa000003", "--key", "text"]);
    assert_eq!(back.trim_end(), long("found", 4_000).trim_end());
    let refused = world.refused(&["restore", ID, "all", "--in-place"]);
    assert!(refused.contains("pi edits what the model gets"), "{refused}");
    assert_eq!(world.text(), text);
}

#[test]
fn in_pis_shell_this_is_its_session() {
    let mut world = World::of(&plain().text());
    let file = world.file().to_str().expect("utf-8").to_owned();
    for name in ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID"] {
        world.hook.set(name, "");
    }
    world.hook.set("PI_SESSION_FILE", &file);
    assert_eq!(world.json(&["decide", "this"])["session"], ID);
    assert_eq!(world.json(&["decide"])["session"], ID);
}
