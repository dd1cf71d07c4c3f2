//! What a bare number means to `show`.

use std::fs;

use super::world::{ID, OTHER, World};

fn id(made: &serde_json::Value) -> String {
    made["id"].as_str().expect("id").to_owned()
}

#[test]
fn show_takes_numbers_from_the_sessions_table() {
    let world = World::new(5);
    world.write(OTHER, &world.session(OTHER, 5, 5));
    let child = id(&world.json(&["surgery", "compress-before", ID, "round:4"]));
    let asked = |seq: &str, session: &str| world.json(&["show", seq, "--session", session]);
    assert_eq!(asked("3", &child)["session"], ID);
    let file = world.file(&child);
    assert_eq!(asked("3", file.to_str().unwrap())["session"], ID, "by its file");
    // A kept round brought its table along.
    let map = world.hook.project.join("map.json");
    fs::write(&map, r#"{"engagements": {"console-work": "1-2"}}"#).unwrap();
    let made = world.json(&["surgery", "split", &child, map.to_str().unwrap()])["sessions"].clone();
    let third = asked("003", &id(&made[0]));
    assert_eq!(third["session"], ID, "{third}");
    assert!(third["text"].as_str().unwrap().contains("question 3 about apples"));
    // Its own rounds, which no table names.
    let path = world.file(&child);
    let rows = fs::read_to_string(&path).unwrap();
    let more: String = (4..=9).map(|n| world.round(&child, n, 100 + n)).collect();
    let mut last = rows.lines().filter_map(|row| {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        row["uuid"].as_str().map(str::to_owned)
    });
    let before = format!("{}-0003-4000-8000-000000000005", &child[..8]);
    let more = more.replace(&before, &last.next_back().unwrap());
    fs::write(&path, rows + &more).unwrap();
    let own = asked("7", &child);
    assert_eq!(own["session"], child, "{own}");
    // For several sessions the error lists the choices.
    let other = id(&world.json(&["surgery", "compress-before", OTHER, "round:4"]));
    let merged = id(&world.json(&["surgery", "merge", &child, &other]));
    let why = world.refused(&["show", "2", "--session", &merged]);
    assert!(why.contains("ask for 3f0a9d1e:2 or 7c41b2aa:2"), "{why}");
}

#[test]
fn show_refuses_an_ambiguous_id_prefix() {
    let world = World::new(3);
    let folder = world.folder();
    for last in 1..=2 {
        let file = folder.join(format!("aaaaaaaa-0000-4000-8000-00000000000{last}.jsonl"));
        world.done(&["surgery", "compress-before", ID, "round:3", "--out", file.to_str().unwrap()]);
    }
    let why = world.refused(&["show", "1", "--session", "aaaaaaaa"]);
    assert!(why.contains("several sessions begin with aaaaaaaa"), "{why}");
    let one = world.json(&["show", "1", "--session", "aaaaaaaa-0000-4000-8000-000000000002"]);
    assert_eq!(one["session"], ID);
}

#[test]
fn show_reads_the_edition_behind_the_table() {
    let world = World::new(5);
    let child = id(&world.json(&["surgery", "compress-before", ID, "round:4"]));
    world.write(ID, &world.session(ID, 3, 0).replace("about apples", "about pears"));
    world.done(&["import", world.file(ID).to_str().unwrap()]);
    let named = world.done(&["show", "3", "--session", &child]);
    assert!(named.contains("question 3 about apples") && !named.contains("pears"), "{named}");
    assert!(named.contains("was rewritten after"), "{named}");
    assert!(world.done(&["show", &format!("{ID}:3")]).contains("question 3 about pears"));
    // A successor made now names the current rounds.
    let now = id(&world.json(&["surgery", "compress-before", ID, "round:3"]));
    let named = world.done(&["show", "2", "--session", &now]);
    assert!(named.contains("about pears") && !named.contains("rewritten"), "{named}");
}

#[test]
fn a_last_line_without_a_newline_is_reported() {
    let world = World::new(2);
    let rows = world.session(ID, 2, 0);
    world.write(ID, rows.trim_end());
    let said = format!("line 12 of {} has no line break yet", world.file(ID).display());
    let imported = world.done(&["import", world.file(ID).to_str().unwrap()]);
    assert!(imported.contains(&said), "{imported}");
    let made = world.json(&["surgery", "compress-before", ID, "round:2"]);
    assert!(made["notes"][0].as_str().is_some_and(|note| note.starts_with(&said)), "{made}");
    world.write(ID, &rows);
    let made = world.json(&["surgery", "compress-before", ID, "round:2"]);
    assert_eq!(made["notes"], serde_json::json!([]));
}
