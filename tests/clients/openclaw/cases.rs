use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rusqlite::Connection;
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

#[test]
#[ignore = "needs OpenClaw (0.9 GB): ./test --openclaw"]
fn a_database_is_extracted_and_restored() {
    let client = &Client::find().unwrap_or_else(|why| panic!("{why}"));
    let world = World::of_a_database(client);
    let before = client.messages(world.home(), ID);
    let original = events(&world);
    let file = World::of_a_file();
    let mut plans =
        [world.planned(&world.place()), file.planned(file.file().to_str().expect("name"))];
    for plan in &mut plans {
        // These fields differ by the place of the session.
        let plan = plan.as_object_mut().expect("plan");
        plan.retain(|name, _| {
            !["session", "path", "place", "file", "kind"].contains(&name.as_str())
        });
    }
    assert_eq!(plans[0], plans[1], "the same session is planned otherwise");
    let why = world.refused(&["run", &world.place()]);
    assert!(why.contains("--offline"), "{why}");

    world.extracted(&["run", &world.place(), "--offline"]);
    assert_eq!(world.copies(), 1);
    let after = client.messages(world.home(), ID);
    assert_extracted(&before, &after);
    let said = client.doctor(world.home(), "inspect");
    assert_eq!(said["targets"][0]["dbStats"]["integrityCheck"], "ok", "{said}");
    assert_eq!(said["totals"]["issues"], 0, "{said}");
    // A second run finds nothing.
    world.extracted(&["run", &world.place(), "--offline"]);
    assert_eq!(client.messages(world.home(), ID), after);

    let back = ["restore", &world.place(), "all", "--in-place", "--unmarked", "--offline"];
    world.extracted(&back);
    assert_eq!(events(&world), original);
    assert_eq!(client.messages(world.home(), ID), before);
    assert_eq!(world.copies(), 2);
}

/// In the database, only rows with extracted values and the tables for OpenClaw's change
/// tracking differ.
#[test]
#[ignore = "needs OpenClaw (0.9 GB): ./test --openclaw"]
fn nothing_else_of_a_database_changes() {
    let client = &Client::find().unwrap_or_else(|why| panic!("{why}"));
    let world = World::of_a_database(client);
    // Rows as another version may write them.
    let database = Connection::open(world.database()).expect("database");
    let long = "later ".repeat(400);
    let last = "SELECT event_json FROM transcript_events WHERE event_json IS NOT NULL
                ORDER BY seq DESC LIMIT 1";
    let last: String = database.query_row(last, [], |row| row.get(0)).expect("a row");
    let last: Value = serde_json::from_str(&last).expect("a row");
    for (n, kind) in ["future_kind", "branch_summary"].into_iter().enumerate() {
        let event = json!({
            "type": kind, "id": format!("f000000{n}"), "parentId": last["id"], "fromId": last["id"],
            "timestamp": "2026-02-20T11:00:00.000Z", "summary": long, "payload": { "text": long },
        });
        let put = "INSERT INTO transcript_events (session_id, seq, event_json, event_utf8_bytes, created_at)
                   SELECT ?1, max(seq) + 1, ?2, length(CAST(?2 AS BLOB)), max(created_at) + 1
                   FROM transcript_events WHERE session_id = ?1";
        database.execute(put, [ID, &event.to_string()]).expect("a row");
    }
    drop(database);
    let messages = client.messages(world.home(), ID);
    let (before, was) = (tables(&world), events(&world));
    world.extracted(&["run", &world.place(), "--offline"]);
    assert_extracted(&messages, &client.messages(world.home(), ID));
    let (after, is) = (tables(&world), events(&world));
    let told =
        ["session_transcript_index_state", "session_windows", "transcript_rewrite_watermarks"];
    for (name, rows) in &before {
        let new = &after[name];
        if name == "transcript_events" {
            assert_eq!(rows.len(), new.len());
            let same = was.iter().zip(&is).map(|(was, is)| was == is);
            for (same, (old, new)) in same.zip(rows.iter().zip(new)) {
                assert!(!same || old == new, "{old} is written anew as {new}");
            }
        } else if !told.contains(&name.as_str()) {
            assert_eq!(rows, new, "{name} is otherwise");
        }
    }
    assert!(was.iter().zip(&is).filter(|(was, is)| was != is).count() > 3);
    let back = ["restore", &world.place(), "all", "--in-place", "--unmarked", "--offline"];
    world.extracted(&back);
    assert_eq!(events(&world), was);
    assert_eq!(client.messages(world.home(), ID), messages);
    assert_eq!(client.doctor(world.home(), "inspect")["totals"]["issues"], 0);
}

/// The rows of every table that plain SQLite can read.
fn tables(world: &World) -> BTreeMap<String, Vec<String>> {
    let database = Connection::open(world.database()).expect("database");
    let mut names = database
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .expect("tables");
    let names: Vec<String> =
        names.query_map([], |row| row.get(0)).expect("tables").map(Result::unwrap).collect();
    let mut all = BTreeMap::new();
    for name in names {
        let Ok(mut table) = database.prepare(&format!("SELECT * FROM \"{name}\"")) else {
            continue;
        };
        let columns = table.column_count();
        let rows = table.query_map([], |row| {
            let value = |at| Ok(format!("{:?}", row.get_ref(at)?));
            (0..columns).map(value).collect::<Result<String, _>>()
        });
        let rows: Vec<String> = rows.expect("rows").map(|row| row.expect("a row")).collect();
        all.insert(name, rows);
    }
    all
}

#[test]
#[ignore = "needs OpenClaw (0.9 GB): ./test --openclaw"]
fn a_gateway_that_runs_is_respected() {
    let client = &Client::find().unwrap_or_else(|why| panic!("{why}"));
    let world = World::of_a_database(client);
    let original = events(&world);
    let planned = world.planned(&world.place());
    let gateway = client.gateway(world.home());
    let why = world.refused(&["run", &world.place(), "--offline"]);
    assert!(why.contains("gateway stop"), "{why}");
    assert_eq!(world.planned(&world.place()), planned);
    assert_eq!((events(&world), world.copies()), (original, 0));
    gateway.stop();
    world.extracted(&["run", &world.place(), "--offline"]);
    // The gateway starts with the changed database.
    client.gateway(world.home()).stop();
}

#[test]
#[ignore = "needs OpenClaw (0.9 GB): ./test --openclaw"]
fn a_schema_nobody_knows_is_left_alone() {
    let client = &Client::find().unwrap_or_else(|why| panic!("{why}"));
    let world = World::of_a_database(client);
    let database = Connection::open(world.database()).expect("database");
    database.pragma_update(None, "user_version", 24).expect("schema");
    drop(database);
    let original = events(&world);
    world.planned(&world.place());
    let why = world.refused(&["run", &world.place(), "--offline"]);
    assert!(why.contains("schema 24"), "{why}");
    assert_eq!((events(&world), world.copies()), (original, 0));
}

/// The session's events, in any storage format.
fn events(world: &World) -> Vec<Vec<u8>> {
    use sessions::files::SessionFile as _;
    use store::openclaw::Database;
    let found = Database::find(&world.database(), Some(ID), false).expect("session");
    let mut all = Vec::new();
    let read = found.rows(&mut |_, row| {
        all.push(row.to_vec());
        Ok(())
    });
    read.expect("events");
    all
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
