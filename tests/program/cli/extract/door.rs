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
    assert!(text.starts_with("[[extracted-aa000003]] 4.0 KB of exec #68aab70f: «found"), "{text}");
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
    assert!(refused.contains("pi masks what the model gets"), "{refused}");
    assert_eq!(world.text(), text);
}

#[test]
fn each_branch_has_its_own_placeholders() {
    let world = World::of(&plain().text());
    world.hook.settings(&json!({ "extract": { "min_saving": 0 } }));
    let decision = world.json(&["keep", ID]);
    // After the edit, the user goes back to before it, and on from there.
    let other = json!({
        "type": "message", "id": "ff000001", "parentId": "aa000008",
        "timestamp": "2026-02-20T12:00:00.000Z", "message": { "role": "user", "content": "else" },
    });
    world.write(&format!("{}{other}\n", edited(&world, &decision)));
    assert_eq!(world.json(&["decide", ID])["values"], 1, "on this branch it is not masked");
    assert!(world.done(&["context", ID]).contains("nothing of it is extracted"));
    // The other branch still needs the content.
    let packs = || {
        world
            .kept()
            .into_iter()
            .filter(|(file, _)| file.extension().is_some_and(|end| end == "pack"))
            .count()
    };
    assert_eq!(packs(), 1);
    let done = world.hook.raw(&["extract", "gc", "--forget", "--yes"], b"");
    assert_eq!((done.code, packs()), (Some(0), 1), "{done:?}");
    // A row of the other branch only does not go either.
    let rows = world.text().replacen(
        "\"parentId\":\"aa000008\",\"timestamp\":\"2026-02-20T12",
        "\"parentId\":\"aa000001\",\"timestamp\":\"2026-02-20T12",
        1,
    );
    world.write(&rows);
    assert_eq!(world.json(&["decide", ID])["values"], 0);
}

#[test]
fn nothing_goes_where_the_model_would_refuse_its_thinking() {
    let thinking = json!([
        { "type": "thinking", "thinking": "Hm", "thinkingSignature": "c2lnbmVk" },
        { "type": "text", "text": "so" },
    ]);
    let of = |model: &str| {
        let talk = plain().assistant(thinking.clone()).user("on").answer("and");
        let text =
            talk.text().replace("\"provider\":\"anthropic\"", &format!("\"model\":\"{model}\""));
        let world = World::of(&text);
        world.hook.settings(&json!({ "extract": { "min_saving": 0 } }));
        world.json(&["keep", ID])
    };
    assert_eq!(of("claude-opus-4-8")["acts"], true);
    let refused = of("claude-opus-5-5");
    assert_eq!(refused["acts"], false);
    assert!(refused["refused"].as_str().expect("why").contains("thinking"), "{refused}");
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
