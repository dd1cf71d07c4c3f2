use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::openclaw::client::Client;
use crate::openclaw::session::{self, ID, placeholders};
use crate::openclaw::world::World;

/// Asserts that something was extracted and everything else is equal.
fn assert_extracted(before: &Value, after: &Value) {
    let found = placeholders(before, after).unwrap_or_else(|why| panic!("{why}"));
    assert!(found > 0, "nothing was extracted: {after}");
}

/// Tests the judge: it notices what breaks OpenClaw's context.
#[test]
#[ignore = "needs OpenClaw (0.9 GB): ./test --openclaw"]
fn a_broken_file_is_found_out() {
    let client = &Client::find().unwrap_or_else(|why| panic!("{why}"));
    let world = World::of_a_file();
    let whole = client.context(world.home(), &world.file()).expect("context");
    let broken = world.home().join("broken.jsonl");
    let mut rows = session::rows();
    let last = rows.len() - 2;
    rows[last]["message"] = "[[extracted-x]]".into();
    fs::write(&broken, session::lines(&rows)).expect("session");
    let why = client.context(world.home(), &broken).expect_err("a message that is a string");
    assert!(why.contains("TypeError"), "{why}");
    let mut rows = session::rows();
    rows.remove(last);
    fs::write(&broken, session::lines(&rows)).expect("session");
    let less = client.context(world.home(), &broken).expect("context");
    assert!(placeholders(&whole, &less).is_err(), "a parent is missing: {less}");
}

#[test]
#[ignore = "needs OpenClaw (0.9 GB): ./test --openclaw"]
fn an_extracted_file_gives_the_same_context() {
    let client = &Client::find().unwrap_or_else(|why| panic!("{why}"));
    let world = World::of_a_file();
    let original = fs::read(world.file()).expect("session");
    let before = client.context(world.home(), &world.file()).expect("context");
    let file = world.file();
    let name = file.to_str().expect("name");
    world.extracted(&["run", name]);
    assert_ne!(fs::read(&file).expect("session"), original);
    assert_extracted(&before, &client.context(world.home(), &file).expect("context"));
    idle(&file);
    world.extracted(&["restore", name, "all", "--in-place", "--unmarked"]);
    assert_eq!(fs::read(&file).expect("session"), original);
}

#[test]
#[ignore = "needs OpenClaw (0.9 GB): ./test --openclaw"]
fn an_extracted_file_is_imported() {
    let client = &Client::find().unwrap_or_else(|why| panic!("{why}"));
    let original = World::of_a_database(client);
    let before = client.messages(original.home(), ID);
    let world = World::of_a_file();
    world.extracted(&["run", world.file().to_str().expect("name")]);
    world.import(client);
    assert_extracted(&before, &client.messages(world.home(), ID));
}

/// Dates the file's last change back by an hour.
fn idle(file: &Path) {
    let hour = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let file = fs::File::options().append(true).open(file).expect("session");
    file.set_modified(hour).expect("time");
}

/// OpenClaw starts the tool server and accepts its list of tools.
#[test]
#[ignore = "needs OpenClaw (0.9 GB): ./test --openclaw"]
fn its_agents_are_offered_the_tools() {
    let client = &Client::find().unwrap_or_else(|why| panic!("{why}"));
    let world = World::of_a_file();
    let server = json!({ "command": env!("CARGO_BIN_EXE_brain-guard"), "args": ["mcp"] });
    let found = client.tools(world.home(), &server);
    let names = ["inject", "purge_control", "rounds", "search", "sessions"]
        .map(|name| format!("brain-guard__{name}"));
    assert_eq!(found["tools"], json!(names), "{found}");
    assert_eq!(found["diagnostics"], json!([]), "{found}");
}
