//! A test database in OpenClaw's format, with the tables that we use.

use std::fs;
use std::path::PathBuf;

use rusqlite::{Connection, params};
use tempfile::TempDir;

use crate::openclaw::Database;
use sessions::files::{SessionFile as _, Stamp};

/// The tables of OpenClaw that we use.
const TABLES: &str = include_str!("schema.sql");

pub const USER: &str = r#"{"type":"message","id":"a1","message":{"role":"user","content":"list"}}"#;
pub const RESULT: &str = r#"{"type":"message","id":"a2","message":{"role":"toolResult","content":[{"type":"text","text":"long, long"}]}}"#;
pub const SAID: &str = r#"{"type":"message","id":"a3","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"done"}]}}"#;

/// A folder of OpenClaw.
pub struct Lab {
    pub dir: TempDir,
}

impl Lab {
    /// Without a database.
    pub fn empty() -> Self {
        let lab = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(lab.path().parent().unwrap()).unwrap();
        lab
    }

    pub fn new() -> Self {
        let lab = Self::empty();
        let db = lab.raw();
        db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
        db.execute_batch(TABLES).unwrap();
        Self::session(&db, "3f2c-one");
        lab
    }

    pub fn root(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap()
    }

    pub fn path(&self) -> PathBuf {
        self.root().join("agents/main/agent/openclaw-agent.sqlite")
    }

    pub fn raw(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    /// Three events, the second compressed.
    pub fn session(db: &Connection, id: &str) {
        let put = "INSERT INTO transcript_events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        for (seq, json) in [(0, USER), (4, SAID)] {
            let none = None::<String>;
            db.execute(put, params![id, seq, json, 1000 + seq, none, json.len() as i64, none])
                .unwrap();
        }
        let frame = zstd::bulk::compress(RESULT.as_bytes(), 1).unwrap();
        let bytes = RESULT.len() as i64;
        db.execute(put, params![id, 2, None::<String>, 1002, frame, bytes, "{}"]).unwrap();
        db.execute("INSERT INTO transcript_rewrite_watermarks VALUES (?1, 'aa', 5)", [id]).unwrap();
        db.execute("INSERT INTO session_windows VALUES (?1, 4000, 9999999999999)", [id]).unwrap();
    }

    pub fn find(&self) -> Database {
        Database::find(&self.path(), Some("3f2c-one")).unwrap()
    }
}

/// The rows of a session.
pub fn rows(of: &Database) -> (Stamp, Vec<String>) {
    let mut all = Vec::new();
    let stamp = of.rows(&mut |number, row| {
        assert_eq!(number, all.len() as u64);
        all.push(String::from_utf8(row.to_vec()).unwrap());
        Ok(())
    });
    (stamp.unwrap(), all)
}
