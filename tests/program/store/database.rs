//! Sessions in a database of OpenClaw: what the model gets is in the ledger alone, also where the
//! program is killed while it decides.

use std::fs;
use std::path::PathBuf;

use rusqlite::{Connection, params};
use serde_json::Value;

use crate::store::Played;
use crate::store::extracts::{killed, rows};
use crate::store::scene::Scene;

/// The tables to read.
const TABLES: &str = include_str!("../../../crates/store/src/openclaw/tests/schema.sql");

/// A home with a session in a database.
struct World {
    scene: Scene,
    place: String,
}

impl World {
    fn new() -> Self {
        let mut world = Self { scene: Scene::new(), place: String::new() };
        let path = world.database();
        world.place = format!("{}:s", path.display());
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        world.set(r#"{"extract": {"when": "interval"}}"#);
        let database = Connection::open(&path).expect("a database");
        database.execute_batch(TABLES).expect("tables");
        let put = "INSERT INTO transcript_events VALUES ('s', ?1, ?2, ?3, NULL, ?4, NULL)";
        for (seq, json) in rows().into_iter().enumerate() {
            let time = r#"{"role":"#;
            let timed = json.replace(time, &format!(r#"{{"timestamp":{seq},"role":"#));
            let (seq, bytes) = (seq as i64, timed.len() as i64);
            database.execute(put, params![seq, timed, 1000 + seq, bytes]).expect("a row");
        }
        world
    }

    fn set(&self, settings: &str) {
        let file = self.scene.path().join("home/.claude/brain-guard/settings.json");
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, settings).expect("settings");
    }

    fn database(&self) -> PathBuf {
        self.scene.path().join("home/.openclaw/agents/main/agent/openclaw-agent.sqlite")
    }

    /// The content of the masked entries, by their messages' time.
    fn asked(&self, verb: &str) -> Vec<(u64, String)> {
        let answer = self.scene.run(&["extract", verb, &self.place, "--drops-thinking"]);
        let said: Value = serde_json::from_str(&answer.stdout)
            .unwrap_or_else(|e| panic!("extract {verb}: {e}: {answer:?}"));
        let all = said["entries"].as_array().expect("entries");
        let of = |entry: &Value| {
            (entry["timestamp"].as_u64().expect("a time"), entry["content"].to_string())
        };
        all.iter().map(of).collect()
    }
}

#[test]
fn a_database_is_masked_by_the_ledger_alone() {
    let world = World::new();
    let before = fs::read(world.database()).expect("a database");
    let masked = world.asked("keep");
    let times: Vec<u64> = masked.iter().map(|(time, _)| *time).collect();
    // Not the last turn's.
    assert_eq!(times, [3, 6, 9]);
    assert!(masked.iter().all(|(_, content)| content.contains("[[extracted-r")), "{masked:?}");
    assert_eq!(world.asked("keep"), masked, "it is decided once");

    let extract = |args: &[&str]| world.scene.run(&[&["extract"], args].concat());
    let place = world.place.as_str();
    let back = extract(&["restore", place, "r0"]);
    assert_eq!(back.stdout, "row 0 größer\n".repeat(200) + "\n");
    let whole = extract(&["set-extractable", place, "r0", "false"]);
    assert_eq!(whole.code, Some(0), "{whole:?}");
    assert_eq!(world.asked("decide"), masked[1..]);
    let none = extract(&["set-extractable", place, "r0", "none"]);
    assert_eq!((none.code, world.asked("decide")), (Some(0), masked));
    let refused = extract(&["restore", place, "all", "--in-place"]);
    assert!(refused.stderr.contains("is never written"), "{refused:?}");

    world.set(r#"{"extract": {"enabled": false}}"#);
    assert_eq!(world.asked("keep"), []);
    assert_eq!(fs::read(world.database()).expect("a database"), before);
}

/// `extract keep`.
pub fn kept() -> Played {
    let world = World::new();
    let args = ["extract", "keep", &world.place, "--drops-thinking"];
    killed(
        &world.scene,
        &args,
        || format!("{:?}", world.asked("decide")),
        || (),
        |after| {
            let again = format!("{:?}", world.asked("keep"));
            if again == after { Ok(()) } else { Err(format!("the next one: {again}")) }
        },
    )
}
