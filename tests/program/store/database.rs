//! Kills the writer of OpenClaw's database at each kind of writing call. The database and its
//! copies are complete, with the old or the new session, and the next call ends like an undisturbed
//! one.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use sessions::files::SessionFile as _;
use sha2::{Digest as _, Sha256};
use store::openclaw::Database;

use crate::store::Played;
use crate::store::extracts::{killed, rows};
use crate::store::scene::Scene;

/// The tables to compare.
const TABLES: &str = include_str!("../../../crates/store/src/openclaw/tests/schema.sql");
/// The size from which OpenClaw compresses an event.
const COMPRESSED: usize = 1024;

/// A home with a session in a database.
struct World {
    scene: Scene,
    place: String,
}

impl Drop for World {
    fn drop(&mut self) {
        // The only lock outside of the home.
        let state = self.openclaw().join("state/openclaw.sqlite");
        let digest = Sha256::digest(state.as_os_str().as_encoded_bytes());
        let name = format!("{:08x}", u32::from_be_bytes(digest[..4].try_into().expect("four")));
        let user = rustix::process::getuid().as_raw();
        let locks = PathBuf::from(format!("/tmp/openclaw-state-locks-{user}"));
        let _ = fs::remove_file(locks.join(format!("gateway-lifecycle.{name}.lock.sqlite")));
    }
}

impl World {
    fn new() -> Self {
        let mut world = Self { scene: Scene::new(), place: String::new() };
        let path = world.database();
        world.place = format!("{}:s", path.display());
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let database = Connection::open(&path).expect("a database");
        let wal = database.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
        wal.and_then(|()| database.execute_batch(TABLES)).expect("tables");
        let put = "INSERT INTO transcript_events VALUES ('s', ?1, ?2, ?3, ?4, ?5, ?6)";
        for (seq, json) in rows().into_iter().enumerate() {
            let (bytes, long) = (json.len(), json.len() >= COMPRESSED);
            let frame = long.then(|| zstd::bulk::compress(json.as_bytes(), 1).expect("a frame"));
            let (plain, navigation) = if long { (None, Some("{}")) } else { (Some(json), None) };
            let row =
                params![seq as i64, plain, 1000 + seq as i64, frame, bytes as i64, navigation];
            database.execute(put, row).expect("a row");
        }
        database
            .execute_batch(
                "INSERT INTO transcript_rewrite_watermarks VALUES ('s', 'aa', 5);
                 INSERT INTO session_windows VALUES ('s', 4000, 9999);
                 INSERT INTO session_transcript_index_state VALUES ('s', 0);",
            )
            .expect("the rest");
        world
    }

    fn openclaw(&self) -> PathBuf {
        fs::canonicalize(self.scene.path()).expect("a home").join("home/.openclaw")
    }

    fn database(&self) -> PathBuf {
        self.openclaw().join("agents/main/agent/openclaw-agent.sqlite")
    }

    /// The content, read from a copy because opening the database would repair it.
    fn text(&self) -> String {
        let aside = tempfile::tempdir().expect("a folder");
        for end in ["", "-wal", "-journal"] {
            let from = format!("{}{end}", self.database().display());
            if fs::exists(&from).unwrap_or_default() {
                fs::copy(from, aside.path().join(format!("d.sqlite{end}"))).expect("copied");
            }
        }
        text(&aside.path().join("d.sqlite"))
    }

    /// The copies beside it are complete, none is partial.
    fn copies(&self, before: &str, after: &str) -> Result<(), String> {
        let folder = fs::read_dir(self.database().parent().expect("a folder")).expect("listed");
        let mut copies = 0;
        for path in folder.map(|entry| entry.expect("an entry").path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !name.contains(".brain-guard-") {
                continue;
            }
            copies += 1;
            // Reading leaves files beside the database.
            let aside = tempfile::tempdir().expect("a folder");
            let copy = aside.path().join("d.sqlite");
            fs::copy(&path, &copy).expect("copied");
            if !name.ends_with('Z') || ![before, after].contains(&text(&copy).as_str()) {
                return Err(format!("{name} stayed"));
            }
        }
        if (1..=2).contains(&copies) { Ok(()) } else { Err(format!("{copies} copies")) }
    }

    fn extract(&self) -> Vec<&str> {
        vec!["extract", "run", &self.place, "--offline"]
    }

    fn restore(&self) -> Vec<&str> {
        vec!["extract", "restore", &self.place, "all", "--in-place", "--unmarked", "--offline"]
    }
}

/// The rows of a database, and whether OpenClaw was notified; or why it is damaged.
fn text(path: &Path) -> String {
    let read = || -> Result<String, Box<dyn std::error::Error>> {
        let database = Connection::open(path)?;
        let one = |sql: &str| database.query_row(sql, [], |row| row.get::<_, String>(0));
        let (whole, drawn) = (
            one("PRAGMA integrity_check")?,
            one("SELECT generation FROM transcript_rewrite_watermarks")?,
        );
        let mut all = format!("{whole} {}\n", if drawn == "aa" { "as it was" } else { "told" });
        Database::find(path, None, false)?.rows(&mut |_, row| {
            all += &String::from_utf8_lossy(row);
            all.push('\n');
            Ok(())
        })?;
        Ok(all)
    };
    read().unwrap_or_else(|why| why.to_string())
}

/// `extract run`.
pub fn run() -> Played {
    let world = World::new();
    let before = world.text();
    if !before.starts_with("ok as it was\n") {
        return Err(before);
    }
    let rows = |text: &str| text.split_once('\n').map(|(_, rows)| rows.to_owned());
    killed(
        &world.scene,
        &world.extract(),
        || world.text(),
        || (),
        |after| {
            let answer = world.scene.run(&world.extract());
            if answer.code != Some(0) || world.text() != after {
                return Err(format!("the next one: {answer:?}"));
            }
            world.copies(&before, after)?;
            let answer = world.scene.run(&world.restore());
            if answer.code == Some(0) && rows(&world.text()) == rows(&before) {
                Ok(())
            } else {
                Err(format!("restored: {answer:?}"))
            }
        },
    )
}

/// `extract restore --in-place`.
pub fn restore() -> Played {
    let world = World::new();
    let answer = world.scene.run(&world.extract());
    let before = world.text();
    if answer.code != Some(0) || !before.starts_with("ok told\n") {
        return Err(format!("{answer:?}: {before}"));
    }
    killed(
        &world.scene,
        &world.restore(),
        || world.text(),
        || (),
        |after| {
            // A kill near the end leaves nothing to restore.
            let answer = world.scene.run(&world.restore());
            if world.text() == after { Ok(()) } else { Err(format!("the next one: {answer:?}")) }
        },
    )
}
