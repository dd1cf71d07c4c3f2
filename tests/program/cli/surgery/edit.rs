//! `surgery edit`: a list of rounds.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::world::{ID, World, said};

fn path(made: &Value) -> &Path {
    Path::new(made["path"].as_str().expect("path"))
}

/// The numbers of the questions that are whole in a session.
fn questions(made: &Value) -> Vec<u32> {
    let all = said(path(made));
    let numbers = all.iter().filter_map(|text| {
        text.strip_prefix("question ")?.split_once(" about apples")?.0.parse().ok()
    });
    numbers.collect()
}

fn list(world: &World, text: &str) -> PathBuf {
    let file = world.hook.project.join("list.txt");
    fs::write(&file, text).expect("list");
    file
}

fn edited(world: &World, session: &str, text: &str) -> Value {
    let file = list(world, text);
    world.json(&["surgery", "edit", session, "--plan", file.to_str().expect("UTF-8")])["sessions"]
        .clone()
}

#[test]
fn one_list_makes_a_session_with_what_stays_and_one_for_an_engagement() {
    let world = World::new(6);
    let text = "index 1-2\nshrink 3\ndrop 4\nengagement import-work 5\n";
    let file = list(&world, text);
    let preview =
        world.done(&["surgery", "edit", ID, "--plan", file.to_str().unwrap(), "--dry-run"]);
    let rounds = "4 are dropped; 1-2, 5 become lines of the index table; 3 stay with a line in place of each tool result; 6 stay whole";
    assert!(preview.contains(rounds), "{preview}");
    let made = edited(&world, ID, text);
    assert_eq!([questions(&made[0]), questions(&made[1])], [vec![3, 6], vec![5]]);
    assert_eq!(made[0]["left"]["dropped"], json!([{ "session": ID, "round": 4 }]));
    let text = fs::read_to_string(path(&made[0])).unwrap();
    assert!(
        !text.contains("found thing 3\\nthe quick") && text.contains("found thing 6\\nthe quick")
    );
    for line in ["| 001 | ", "| 002 | ", "| 005 | "] {
        assert!(text.contains(&format!("\\n{line}")), "{line}");
    }
    let child = made[1]["id"].as_str().unwrap();
    let rounds = world.json(&["rounds", child]);
    let tagged = rounds["rounds"].as_array().unwrap();
    let tagged: Vec<&Value> = tagged.iter().map(|round| &round["engagement"]).collect();
    assert_eq!(tagged.iter().filter(|tag| **tag == "import-work").count(), 1, "{rounds}");

    // Once more: lines stay, and lead to where the rounds were first.
    let id = made[0]["id"].as_str().unwrap();
    let again = edited(&world, id, "i 1-3\n");
    assert_eq!(questions(&again[0]), [6]);
    let table = said(path(&again[0])).remove(0);
    for n in [1, 2, 3, 5] {
        assert!(table.contains(&format!("\n| {n:03} | ")), "{n}: {table}");
    }
}

#[test]
fn without_a_list_it_prints_one() {
    let world = World::new(3);
    let printed = world.done(&["surgery", "edit", ID]);
    assert!(printed.starts_with("keep 1 "), "{printed}");
    let made = edited(&world, ID, &printed.replacen("keep 2 ", "drop 2 ", 1));
    assert_eq!(questions(&made[0]), [1, 3]);
}

#[test]
fn a_list_with_mistakes_does_nothing() {
    let world = World::new(3);
    let file = list(&world, "fixup 1\n# fine\nindex 9\nkeep 2\n");
    let file = file.to_str().unwrap();
    let why = world.refused(&["surgery", "edit", ID, "--plan", file]);
    assert!(why.contains("list.txt:1: unknown command `fixup`"), "{why}");
    assert!(why.contains("list.txt:3: there is no round 9: it has rounds 1-3"), "{why}");
    assert!(why.contains("nothing was made"), "{why}");
    list(&world, "# nothing\n\n");
    let why = world.refused(&["surgery", "edit", ID, "--plan", file]);
    assert!(why.contains("names no round; nothing was made"), "{why}");
    list(&world, "keep 1-3\n");
    let why = world.refused(&["surgery", "edit", ID, "--plan", file]);
    assert!(why.contains("there is nothing to do"), "{why}");
    assert_eq!(world.json(&["surgery", "log"])["sessions"], json!([]));
}
