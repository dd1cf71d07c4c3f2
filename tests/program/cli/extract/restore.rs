//! `extract restore` when it cannot restore, and what counts as a placeholder.
#![allow(clippy::format_push_string, reason = "a row is a line")]

use std::fs;

use serde_json::{Value, json};

use super::world::{ID, Talk, World, long, plain};

#[test]
fn restore_as_output_changes_only_the_ledger() {
    let world = World::of(&plain().text());
    world.done(&["run", ID]);
    let before = world.text();
    let text = long("found", 4_000);
    assert_eq!(world.done(&["restore", ID, "aa000003", "--key", "text"]), text.clone() + "\n");
    let both = world.done(&["restore", ID, "aa0000"]);
    for part in ["## aa000003 message.content.0.text\n", "## aa000003 message.details.aggregated\n"]
    {
        assert!(both.contains(part), "{both}");
    }
    let told = world.json(&["restore", ID, "aa000003", "--key", "details"]);
    assert_eq!(told["texts"]["message.details.aggregated"], text.as_str());
    assert_eq!(told["keys_restored"], json!(["message.details.aggregated"]));
    assert!(told["previous_restored_at"].is_string());
    assert_eq!(world.text(), before);
    // It is still extracted.
    assert_eq!(world.extracts(&[]), 0);
}

#[test]
fn restore_prints_some_lines_of_a_value() {
    let text: String =
        (1..=300).fold(String::new(), |all, n| all + &format!("{n}: the quick brown fox\n"));
    let world =
        World::of(&Talk::new().user("look").exec(&text).answer("a").user("b").answer("c").text());
    world.done(&["run", ID]);
    let lines = |lines| ["restore", ID, "aa000003", "--key", "text", "--lines", lines];
    assert_eq!(world.done(&lines("9-10")), "9: the quick brown fox\n10: the quick brown fox\n");
    let both = world.json(&["restore", ID, "aa000003", "--lines", "9"]);
    assert_eq!(both["texts"]["message.details.aggregated"], "9: the quick brown fox");
    let why = world.refused(&lines("301"));
    assert!(why.contains("message.content.0.text of aa000003 has 300 lines"), "{why}");
    let wrong = world.run(&lines("9-"));
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("write for example 10-40"), "{}", wrong.stderr);
}

#[test]
fn restore_all_prints_values_by_entry() {
    let world = World::of(&plain().text());
    world.done(&["run", ID]);
    let all = world.json(&["restore", ID, "all"]);
    let told = all.as_array().expect("a list");
    assert_eq!(told.len(), 1, "{all}");
    assert_eq!((&told[0]["restored"], &told[0]["entry_id"]), (&true.into(), &"aa000003".into()));
    let texts = told[0]["texts"].as_object().expect("texts");
    let keys: Vec<&str> = texts.keys().map(String::as_str).collect();
    assert_eq!(keys, ["message.content.0.text", "message.details.aggregated"]);
    assert!(texts.values().all(|text| *text == long("found", 4_000)), "{all}");
    // Damage is reported before anything is restored.
    let pack = world.kept().into_keys().find(|path| path.extension().is_some_and(|e| e == "pack"));
    let pack = pack.expect("a pack");
    let mut bytes = fs::read(&pack).expect("a pack");
    *bytes.last_mut().expect("content") ^= 1;
    fs::write(pack, bytes).expect("written");
    for json in [&["restore", ID, "all"][..], &["restore", ID, "all", "--json"]] {
        let ran = world.run(json);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
        assert!(ran.stderr.contains("damaged"), "{ran:?}");
    }
}

#[test]
fn restore_names_what_is_not_extracted() {
    let world = World::of(&plain().text());
    let nothing = world.refused(&["restore", ID, "all"]);
    assert!(nothing.contains("nothing of") && nothing.contains("is extracted"), "{nothing}");
    world.done(&["run", ID]);
    for (entry, words) in [
        ("zz", vec!["there is no entry zz", "extracted are aa000003"]),
        ("aa000005", vec!["nothing of aa000005 in ", "extracted are aa000003"]),
        ("", vec!["the entry's name is empty", "extracted are aa000003"]),
    ] {
        let why = world.refused(&["restore", ID, entry]);
        assert!(words.iter().all(|word| why.contains(word)), "{entry}: {why}");
    }
    let why = world.refused(&["restore", ID, "aa000003", "--key", "output"]);
    assert!(why.contains("`output`") && why.contains("message.content.0.text"), "{why}");
    let why = world.refused(&["restore", "7777", "aa000003"]);
    assert!(why.contains("no session 7777") && why.contains(".openclaw/agents"), "{why}");
}

/// Without the ledger a placeholder is plain text; the error says what it may be.
#[test]
fn a_placeholder_without_a_ledger_is_explained() {
    let world = World::of(&plain().text());
    assert_eq!(world.json(&["context", ID])["unknown"], 0);
    world.done(&["run", ID]);
    assert_eq!(world.json(&["context", ID])["unknown"], 0);
    let ours = world.hook.home.join(".local/share/brain-guard");
    fs::rename(&ours, ours.with_extension("away")).expect("moved");
    let hint = "1 row holds what looks like a placeholder, and no ledger of the store";
    for entry in ["all", "aa000003"] {
        let why = world.refused(&["restore", ID, entry]);
        assert!(why.contains(hint) && why.contains("BRAIN_GUARD_STORE"), "{why}");
    }
    let asked = world.run(&["context", ID]);
    assert!(asked.code == Some(0) && asked.stderr.contains(hint), "{asked:?}");
    assert_eq!(world.json(&["context", ID])["unknown"], 1);
}

#[test]
fn a_lost_ledger_is_reported() {
    let ledger = |world: &World| {
        let found = world.kept().into_keys().find(|path| path.ends_with("ledger.jsonl"));
        found.expect("a ledger")
    };
    let hint = "no ledger of the store";
    let world = World::of(&plain().text());
    world.done(&["run", ID]);
    fs::remove_file(ledger(&world)).expect("removed");
    assert!(world.done(&["status"]).starts_with("no ledger names the "));
    let swept = world.done(&["gc"]);
    assert!(
        swept.contains("0 are kept, 0 B; ") && swept.contains("no ledger names them"),
        "{swept}"
    );
    // A placeholder without its end.
    let world =
        World::of(&plain().exec(&long("more", 3_000)).answer("b").user("c").answer("d").text());
    world.done(&["run", ID, "--keep-recent", "0"]);
    let text = fs::read_to_string(ledger(&world)).expect("read");
    let first: String = text.split_inclusive('\n').take(2).collect();
    assert!(first.len() < text.len(), "{text}");
    fs::write(ledger(&world), first).expect("written");
    let ran = world.run(&["restore", ID, "all", "--in-place"]);
    assert!(ran.code == Some(0) && ran.stderr.contains(hint), "{ran:?}");
}

#[test]
fn an_overwritten_placeholder_is_no_placeholder() {
    let world = World::of(&plain().text());
    world.done(&["run", ID]);
    let mut row = world.row("aa000003");
    row["message"]["content"][0]["text"] = "[[extracted-aa000003]] mine".into();
    row["message"]["details"] = Value::Null;
    world.set("aa000003", "message", row["message"].clone());
    let why = world.refused(&["restore", ID, "aa000003", "--in-place"]);
    assert!(
        why.contains("are on another branch") && why.contains("message.content.0.text"),
        "{why}"
    );
}

#[test]
fn damaged_content_is_reported_before_anything_changes() {
    for damage in [true, false] {
        let world = World::of(&plain().text());
        world.done(&["run", ID]);
        let objects: Vec<_> = world
            .kept()
            .into_keys()
            .filter(|path| path.components().any(|part| part.as_os_str() == "objects"))
            .filter(|path| !path.ends_with(".lock"))
            .collect();
        // Both values have the same text, so they share one object.
        assert_eq!(objects.len(), 1, "{objects:?}");
        if damage {
            fs::write(&objects[0], "\"another\"").expect("damage");
        } else {
            fs::remove_file(&objects[0]).expect("loss");
        }
        for args in [vec!["restore", ID, "aa000003"], vec!["restore", ID, "all", "--in-place"]] {
            let why = world.refused(&args);
            assert!(why.contains("message.content.0.text of aa000003 can't be restored"), "{why}");
            let word = if damage { "damaged" } else { "gone" };
            assert!(
                why.contains(word) && why.contains(objects[0].to_str().expect("utf-8")),
                "{why}"
            );
        }
    }
}

#[test]
fn restore_all_skips_damaged_content() {
    let talk = Talk::new().user("look").exec(&long("first", 4_000)).exec(&long("second", 4_000));
    let before = talk.answer("seen").user("a").answer("b").user("c").answer("d").text();
    let world = World::of(&before);
    world.done(&["run", ID]);
    let lean = world.rows();
    let pack = world.kept().into_keys().find(|path| path.extension().is_some_and(|e| e == "pack"));
    let pack = pack.expect("a pack");
    let mut bytes = fs::read(&pack).expect("a pack");
    *bytes.last_mut().expect("content") ^= 1;
    fs::write(pack, bytes).expect("written");
    let says = "message.content.0.text of aa000005 can't be restored";
    let told = |args: &[&str]| {
        let ran = world.run(args);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(says) && !ran.stderr.contains("of aa000003"), "{ran:?}");
        ran.stdout
    };
    let printed = told(&["restore", ID, "all"]);
    assert!(printed.starts_with("## aa000003 "), "{printed}");
    assert!(printed.contains(&long("first", 4_000)) && !printed.contains("second"), "{printed}");
    let json: Value = serde_json::from_str(&told(&["restore", ID, "all", "--json"])).expect("JSON");
    let list: Vec<_> = (json.as_array().expect("a list").iter())
        .map(|told| (told["restored"].as_bool(), told["entry_id"].as_str(), told["key"].as_str()))
        .collect();
    let left = |key| (Some(false), Some("aa000005"), Some(key));
    let back = (Some(true), Some("aa000003"), None);
    let keys = ["message.content.0.text", "message.details.aggregated"].map(left);
    assert_eq!(list, [back, keys[0], keys[1]], "{json}");
    let placed = told(&["restore", ID, "all", "--in-place", "--unmarked"]);
    assert!(placed.contains("of aa000003 in ") && !placed.contains("aa000005"), "{placed}");
    let was: Vec<Value> =
        before.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for ((was, lean), now) in was.iter().zip(&lean).zip(&world.rows()) {
        assert_eq!(now, if now["id"] == "aa000005" { lean } else { was });
    }
}

#[test]
fn text_like_a_placeholder_stays_text() {
    let quoted = format!("[[extracted-aa000003]] {}", long("quoted", 2_000));
    let talk = Talk::new().user("look").exec(&quoted).user(&quoted).answer("seen");
    let before = talk.user("a").answer("b").user("c").answer("d").text();
    let world = World::of(&before);
    // Such texts are extracted like any other.
    assert_eq!(world.extracts(&["--type", "tool_result,user"]), 3);
    world.done(&["restore", ID, "aa000003", "--in-place", "--unmarked"]);
    assert_eq!(world.row("aa000003")["message"]["content"][0]["text"], quoted.as_str());
    // A user who quotes a live placeholder exactly keeps the text.
    let world = World::of(&plain().text());
    world.done(&["run", ID]);
    let live = world.row("aa000003")["message"]["content"][0]["text"].clone();
    let mut text = world.text();
    for row in
        [json!({ "role": "user", "content": live }), json!({ "role": "user", "content": "b" })]
    {
        let id = format!("bb{:06}", text.len());
        let row = json!({ "type": "message", "id": id, "parentId": "aa000008", "message": row });
        text += &format!("{row}\n");
    }
    world.write(&text);
    world.done(&["restore", ID, "all", "--in-place"]);
    let rows = world.rows();
    assert_eq!(rows[rows.len() - 2]["message"]["content"], live);
    assert_eq!(
        world.row("aa000003")["message"]["content"][0]["text"],
        long("found", 4_000).as_str()
    );
}
