//! What a number alone means to `inject`.

use std::fs;

use super::world::{ID, OTHER, World};

fn id(made: &serde_json::Value) -> String {
    made["id"].as_str().expect("id").to_owned()
}

#[test]
fn a_number_is_of_the_table_that_stands_in_the_session() {
    let world = World::new(5);
    world.write(OTHER, &world.session(OTHER, 5, 5));
    let child = id(&world.json(&["surgery", "compress-before", ID, "round:4"]));
    let asked = |seq: &str, session: &str| world.json(&["inject", seq, "--session", session]);
    assert_eq!(asked("3", &child)["session"], ID);
    let file = world.file(&child);
    assert_eq!(asked("3", file.to_str().unwrap())["session"], ID, "by its file");
    // Its table came along in a round that was kept.
    world.done(&["tag", &child, "1-2", "console-work"]);
    let made = world.json(&["surgery", "extract-engagement", &child, "console-work"]);
    let third = asked("003", &id(&made));
    assert_eq!(third["session"], ID, "{third}");
    assert!(third["text"].as_str().unwrap().contains("question 3 about apples"));
    // Rounds of its own that no table names.
    let path = world.file(&child);
    let rows = fs::read_to_string(&path).unwrap();
    let more: String = (4..=9).map(|n| world.round(&child, n, 100 + n)).collect();
    fs::write(&path, rows + &more).unwrap();
    let own = asked("7", &child);
    assert_eq!(own["session"], child, "{own}");
    // Of several sessions: it is said which there are.
    let other = id(&world.json(&["surgery", "compress-before", OTHER, "round:4"]));
    let merged = id(&world.json(&["surgery", "merge", &child, &other]));
    let why = world.refused(&["inject", "2", "--session", &merged]);
    assert!(why.contains("ask for 3f0a9d1e:2 or 7c41b2aa:2"), "{why}");
}

#[test]
fn the_beginning_of_several_ids_is_refused() {
    let world = World::new(3);
    let folder = world.folder();
    for last in 1..=2 {
        let file = folder.join(format!("aaaaaaaa-0000-4000-8000-00000000000{last}.jsonl"));
        world.done(&["surgery", "compress-before", ID, "round:3", "--out", file.to_str().unwrap()]);
    }
    let why = world.refused(&["inject", "1", "--session", "aaaaaaaa"]);
    assert!(why.contains("several sessions begin with aaaaaaaa"), "{why}");
    let one = world.json(&["inject", "1", "--session", "aaaaaaaa-0000-4000-8000-000000000002"]);
    assert_eq!(one["session"], ID);
}

#[test]
fn a_tables_round_is_read_of_the_edition_that_it_was_made_of() {
    let world = World::new(5);
    let child = id(&world.json(&["surgery", "compress-before", ID, "round:4"]));
    world.write(ID, &world.session(ID, 3, 0).replace("about apples", "about pears"));
    world.done(&["import", world.file(ID).to_str().unwrap()]);
    let named = world.done(&["inject", "3", "--session", &child]);
    assert!(named.contains("question 3 about apples") && !named.contains("pears"), "{named}");
    assert!(named.contains("was written anew since"), "{named}");
    assert!(world.done(&["inject", &format!("{ID}:3")]).contains("question 3 about pears"));
    // What is made now names what there is now.
    let now = id(&world.json(&["surgery", "compress-before", ID, "round:3"]));
    let named = world.done(&["inject", "2", "--session", &now]);
    assert!(named.contains("about pears") && !named.contains("written anew"), "{named}");
}

#[test]
fn a_last_line_that_is_not_whole_is_told() {
    let world = World::new(2);
    let rows = world.session(ID, 2, 0);
    world.write(ID, rows.trim_end());
    let said = format!("line 12 of {} has no line break yet", world.file(ID).display());
    let inscribed = world.done(&["import", world.file(ID).to_str().unwrap()]);
    assert!(inscribed.contains(&said), "{inscribed}");
    let made = world.json(&["surgery", "compress-before", ID, "round:2"]);
    assert!(made["notes"][0].as_str().is_some_and(|note| note.starts_with(&said)), "{made}");
    world.write(ID, &rows);
    let made = world.json(&["surgery", "compress-before", ID, "round:2"]);
    assert_eq!(made["notes"], serde_json::json!([]));
}
