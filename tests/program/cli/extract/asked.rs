//! How `extract` verbs read their arguments, and what they say when nothing can be done.

use std::fs;

use serde_json::{Value, json};

use super::world::{ID, Talk, World, long, plain};

#[test]
fn a_placeholder_names_its_entry() {
    let world = World::of(&plain().text());
    world.done(&["run", ID]);
    let named = "[[extracted-aa000003]]";
    let args = |entry| ["restore", ID, entry, "--key", "text"];
    assert_eq!(world.done(&args(named)), world.done(&args("aa000003")));
    world.done(&["set-extractable", ID, named, "3.0"]);
    assert_eq!(world.row("aa000003")["_extractable"], 3);
}

#[test]
fn an_exact_key_selects_only_itself() {
    let texts: Vec<Value> = (0..12)
        .map(|n| json!({ "type": "text", "text": long(&format!("number {n}"), 900) }))
        .collect();
    let details = json!({ "out": long("out", 900), "output": long("output", 900) });
    let talk = Talk::new().user("go").tool("exec", texts.into(), details);
    let talk = (0..4).fold(talk, |talk, _| talk.user("on").answer("yes"));
    let world = World::of(&talk.text());
    assert_eq!(world.extracts(&[]), 14);
    let keys =
        |key: &str| world.json(&["restore", ID, "aa000003", "--key", key])["keys_restored"].clone();
    assert_eq!(keys("message.details.out"), json!(["message.details.out"]));
    assert_eq!(keys("out"), json!(["message.details.out"]));
    assert_eq!(keys("message.content.1"), json!(["message.content.1.text"]));
    assert_eq!(keys("details").as_array().map(Vec::len), Some(2));
    let why = world.refused(&["restore", ID, "aa000003", "--key", ""]);
    assert!(why.contains("a --key is empty; name a key"), "{why}");
    let told = world.run(&["restore", ID, "aa000003", "--key", "out", "--from", "2"]);
    assert_eq!(told.code, Some(0));
    assert!(told.stderr.contains("--from is ignored"), "{}", told.stderr);
}

#[test]
fn faulty_settings_stop_extraction() {
    let world = World::of(&plain().text());
    world.hook.settings(&json!({ "extract": { "keep_recent": "many" } }));
    let folder = world.file().parent().expect("folder").to_str().expect("utf-8").to_owned();
    for args in [vec!["plan", ID], vec!["run", ID], vec!["watch", &folder, "--once"], vec!["gc"]] {
        let why = world.refused(&args);
        assert!(!why.contains("ignored"), "{why}");
        assert!(
            why.contains("nothing is extracted or removed until these settings are fixed"),
            "{why}"
        );
    }
}

#[test]
fn set_extractable_says_when_nothing_can_be_extracted() {
    let world = World::of(&plain().text());
    let told = |entry: &str| world.done(&["set-extractable", ID, entry, "true"]);
    assert!(told("aa000001").contains("nothing in it can be now"), "{}", told("aa000001"));
    assert!(told("aa000003").contains("is extracted at the next run"));
}

#[test]
fn a_newer_session_version_is_refused() {
    let world = World::of(&plain().text().replacen("\"version\":3", "\"version\":4", 1));
    let why = world.refused(&["run", ID]);
    assert!(why.contains("version 4") && why.contains("Update brain-guard"), "{why}");
    assert!(!why.contains("open it once"), "{why}");
}

#[test]
fn watch_reports_a_database_it_never_writes() {
    let world = World::of(&plain().text());
    let agent = world.file().ancestors().nth(2).expect("agent").join("agent");
    fs::create_dir_all(&agent).expect("folder");
    fs::write(agent.join("openclaw-agent.sqlite"), "SQLite format 3\0").expect("database");
    let openclaw = world.hook.home.join(".openclaw");
    let told = world.run(&["watch", openclaw.to_str().expect("utf-8"), "--once"]);
    let line =
        "a database of OpenClaw is never written; OpenClaw's plugin masks what the model gets";
    assert_eq!(told.stderr.matches(line).count(), 1, "{}", told.stderr);
}

#[test]
fn plan_reports_rows_with_a_shared_id() {
    let text = plain().text().replace("aa000003", "aa000004");
    let world = World::of(&text);
    let told = world.json(&["plan", ID]);
    assert_eq!(told["left"]["shared"], json!([4]), "{told:#}");
    let shown = world.done(&["plan", ID]);
    assert!(shown.contains("skipped: another row has the same id, line 4"), "{shown}");
    assert!(shown.contains("2 in rows whose id another row has"), "{shown}");
}
