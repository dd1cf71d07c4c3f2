//! What new sessions inherit from extraction.

use std::fs;

use serde_json::json;

use super::world::{ID, World};

#[test]
fn successors_inherit_the_extractable_flags() {
    let world = World::new(5);
    // The result of round 2 stays; those of rounds 1 and 3 are extracted.
    let row = format!("{}-0002-4000-8000-000000000004", &ID[..8]);
    let told = world.json(&["extract", "set-extractable", ID, &row, "false"]);
    assert!(told["in_ledger"].as_str().expect("why").contains("never changed"), "{told}");

    let made = world.json(&["extract", "run", ID]);
    let again = world.json(&["surgery", "compress-before", ID, "round:2"]);
    for made in [made, again] {
        let path = made["path"].as_str().expect("a path");
        let text = fs::read_to_string(path).expect("the new session");
        assert!(text.contains("found thing 2"), "{path}");
        let context = world.json(&["extract", "context", path]);
        let said = context["said"].as_array().expect("said");
        assert_eq!(said.len(), 1, "{context}");
        assert_eq!(said[0]["extractable"], json!(false));
        // The row has a new id there.
        let id = said[0]["entry_id"].as_str().expect("an id");
        assert!(id != row && text.contains(id), "{context}");
        let plan = world.json(&["extract", "plan", path, "--keep-recent", "0"]);
        let items = plan["items"].as_array().expect("items");
        assert!(!items.is_empty() && items.iter().all(|item| item["entry_id"] != id), "{plan}");
    }
}

#[test]
fn a_second_extraction_names_the_copy_that_is_there() {
    let world = World::new(5);
    // This operation is no extraction, whatever its name.
    world.done(&["tag", ID, "1-3", "console-work"]);
    world.done(&["surgery", "extract-engagement", ID, "console-work"]);
    let made = world.json(&["extract", "run", ID]);
    let id = made["id"].as_str().expect("an id");
    let count = || fs::read_dir(world.folder()).expect("the client's folder").count();
    let before = count();
    let why = world.refused(&["extract", "run", ID]);
    for part in [
        format!("3f0a9d1e was extracted already, into {}", &id[..8]),
        made["resume"].as_str().expect("a command").to_owned(),
        format!("brain-guard surgery remove {}", &id[..8]),
        "--again".to_owned(),
    ] {
        assert!(why.contains(&part), "{part}: {why}");
    }
    assert_eq!(count(), before, "nothing was written");
    world.done(&["extract", "run", ID, "--dry-run"]);
    let another = world.json(&["extract", "run", ID, "--again"]);
    assert_ne!(another["id"], made["id"]);
    // Without the copies, it is as at first.
    for made in [made, another] {
        world.done(&["surgery", "remove", made["id"].as_str().expect("an id")]);
    }
    world.done(&["extract", "run", ID]);
}
