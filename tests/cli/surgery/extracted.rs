//! What extraction leaves to the sessions that are made.

use std::fs;

use serde_json::json;

use super::world::{ID, World};

#[test]
fn what_was_said_of_an_entry_holds_in_the_sessions_that_are_made_of_its_own() {
    let world = World::new(5);
    // The result of round 2; those of rounds 1 and 3 go.
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
        // The row has an id of its own there.
        let id = said[0]["entry_id"].as_str().expect("an id");
        assert!(id != row && text.contains(id), "{context}");
        let plan = world.json(&["extract", "plan", path, "--keep-recent", "0"]);
        let items = plan["items"].as_array().expect("items");
        assert!(!items.is_empty() && items.iter().all(|item| item["entry_id"] != id), "{plan}");
    }
}
