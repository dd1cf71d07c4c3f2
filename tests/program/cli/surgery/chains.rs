//! Operations on what operations made: after any two, every round is there or leads back to itself.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::world::{ID, OTHER, World, said};

const ROUNDS: u32 = 8;

/// A session whose rounds 1-3 belong to one engagement, and 4-6 to another.
fn tagged() -> World {
    let world = World::new(ROUNDS);
    world.done(&["tag", ID, "1-3", "console-work"]);
    world.done(&["tag", ID, "4-6", "import-work"]);
    world
}

fn id(made: &Value) -> &str {
    made["id"].as_str().expect("an id")
}

/// Checks that each round is in a session whole, with its tag, or in a line that `show` resolves.
fn holds_all(world: &World, made: &Value, what: &str) {
    let path = made["path"].as_str().expect("a path");
    world.done(&["validate", "--strict", path]);
    let all = said(Path::new(path));
    let tables: Vec<&String> =
        all.iter().filter(|text| text.contains("| round | time |")).collect();
    let rounds = world.json(&["rounds", id(made)]);
    let rounds = rounds["rounds"].as_array().expect("rounds");
    for n in 1..=ROUNDS {
        let question = format!("question {n} about apples");
        let found = rounds.iter().filter(|round| round["summary"] == question.as_str());
        let tags: Vec<&Value> = found.map(|round| &round["engagement"]).collect();
        if let [tag] = tags[..] {
            let expected = match n {
                1..=3 => Some("console-work"),
                4..=6 => Some("import-work"),
                _ => None,
            };
            assert_eq!(tag.as_str(), expected, "{what}: round {n}");
            continue;
        }
        assert!(tags.is_empty(), "{what}: round {n} is there {} times", tags.len());
        let line = |table: &&String| {
            let answer = format!("the answer {n} is known");
            let line = table.lines().find(|line| line.contains(&answer))?.to_owned();
            let (_, prefix) = table.split_once("run `brain-guard show ")?;
            let column = line.split(" | ").next()?.trim_start_matches("| ").to_owned();
            Some(format!("{}{column}", prefix.split("ROUND").next()?))
        };
        let references: Vec<String> = tables.iter().filter_map(line).collect();
        let [reference] = &references[..] else { panic!("{what}: {references:?} for round {n}") };
        let page = world.done(&["show", reference]);
        assert!(page.contains(&question), "{what}: {reference} is\n{page}");
    }
}

#[test]
fn every_round_is_there_after_two_operations() {
    let world = tagged();
    let first = |args: &[&str]| world.json(&[&["surgery"], args].concat());
    let cut = first(&["compress-before", ID, "round:4"]);
    let closed = first(&["compress-engagement", ID, "console-work"]);
    let revived = world.json(&["surgery", "revive", ID]);
    for (name, made) in [("cut", &cut), ("closed", &closed), ("revived", &revived)] {
        holds_all(&world, made, name);
        // Twice in a row, in several ways.
        let last = world.json(&["rounds", id(made)])["rounds"].as_array().unwrap().len();
        let again = first(&["compress-before", id(made), &format!("round:{last}")]);
        holds_all(&world, &again, &format!("{name}, cut"));
        let third = first(&["compress-before", id(&again), "round:2"]);
        holds_all(&world, &third, &format!("{name}, cut, cut"));
        let list = world.hook.project.join("list.txt");
        fs::write(&list, "index 2\n").unwrap();
        let list = list.to_str().unwrap();
        let edited = world.json(&["surgery", "edit", id(made), "--plan", list])["sessions"].clone();
        holds_all(&world, &edited[0], &format!("{name}, edited"));
        let twice =
            world.json(&["surgery", "edit", id(&edited[0]), "--plan", list])["sessions"].clone();
        holds_all(&world, &twice[0], &format!("{name}, edited, edited"));
        let merged = first(&["merge", ID, id(made)]);
        holds_all(&world, &merged, &format!("{name}, merged with its source"));
    }
    let closed = first(&["compress-engagement", id(&cut), "import-work"]);
    holds_all(&world, &closed, "cut, closed");
}

#[test]
fn what_was_split_is_merged_and_split_again() {
    let world = tagged();
    let map = world.hook.project.join("map.json");
    fs::write(&map, r#"{"engagements": {"console-work": "1-3", "import-work": "4-6"}}"#).unwrap();
    let children = world.json(&["surgery", "split", ID, map.to_str().unwrap()])["sessions"].clone();
    let merged = world.json(&["surgery", "merge", id(&children[0]), id(&children[1])]);
    holds_all(&world, &merged, "split, merged");
    let again = world.json(&["surgery", "merge", id(&merged), id(&children[0])]);
    holds_all(&world, &again, "split, merged, merged");
    let rounds = world.json(&["rounds", id(&merged)]);
    let of = |name: &str| {
        let rounds = rounds["rounds"].as_array().unwrap().iter();
        let own = rounds.filter(|round| round["engagement"] == name);
        own.map(|round| round["round"].to_string()).collect::<Vec<_>>().join(",")
    };
    let text = format!(
        r#"{{"engagements": {{"console-work": "{}", "import-work": "{}"}}}}"#,
        of("console-work"),
        of("import-work")
    );
    fs::write(&map, text).unwrap();
    let parts =
        world.json(&["surgery", "split", id(&merged), map.to_str().unwrap()])["sessions"].clone();
    let merged = world.json(&["surgery", "merge", id(&parts[1]), id(&parts[0])]);
    holds_all(&world, &merged, "merged, split, merged");
}

#[test]
fn what_was_said_once_is_found_once() {
    let world = tagged();
    world.write(OTHER, &world.session(OTHER, 2, 90));
    let mut made = vec![
        world.json(&["surgery", "compress-before", ID, "round:2"]),
        world.json(&["surgery", "extract-engagement", ID, "import-work"]),
        world.json(&["surgery", "merge", ID, OTHER]),
    ];
    for n in 0..9 {
        let id = id(&made[n]).to_owned();
        made.push(match n % 3 {
            0 => world.json(&["surgery", "compress-before", &id, "round:3"]),
            1 => world.json(&["surgery", "extract-engagement", &id, "import-work"]),
            _ => world.json(&["surgery", "compress-before", &id, "round:2"]),
        });
    }
    assert_eq!(made.len(), 12);
    world.done(&["import", "--all"]);
    let found = world.json(&["search", "\"the answer 5 is known\""]);
    let references: Vec<&Value> =
        found["rounds"].as_array().unwrap().iter().map(|hit| &hit["ref"]).collect();
    assert_eq!(references, ["3f0a9d1e:005"], "{found}");
    let matrix = world.done(&["tag", "matrix", "import-work"]);
    assert!(matrix.contains("3f0a9d1e:4-6") && matrix.matches(':').count() == 1, "{matrix}");
}
