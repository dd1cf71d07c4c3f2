//! A block file: its schema, block ids and identity.

use std::io;
use std::path::Path;

use rusqlite::{OptionalExtension as _, params};

use crate::database::{Db, Journal, Schema};

/// `blocks`: an `id` has the round in its upper half and the block's number in the round in its
/// lower, so ids sort like rows. `first` is the number of the first row, `count` the rows, `bytes`
/// their length. `about`: the session, and the identity of this edition.
pub const SCHEMA: Schema = Schema {
    tables: "CREATE TABLE blocks(
        id INTEGER PRIMARY KEY,
        first INTEGER NOT NULL,
        count INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        sha256 BLOB NOT NULL,
        rows BLOB NOT NULL);
    CREATE TABLE about(
        one INTEGER PRIMARY KEY CHECK(one = 1),
        session TEXT NOT NULL,
        identity INTEGER NOT NULL);",
    journal: Journal::File,
};

pub fn id(round: u32, block: u32) -> i64 {
    i64::from(round) << 32 | i64::from(block)
}

pub fn round(id: i64) -> u32 {
    (id >> 32) as u32
}

/// Writes the `about` row of a new file.
pub fn begin(db: &Db) -> io::Result<()> {
    const ADD: &str = "INSERT OR IGNORE INTO about VALUES(1, ?1, abs(random() / 2))";
    let path = db.path();
    let session = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    db.run(|c| c.execute(ADD, params![session]))?;
    Ok(())
}

/// Identifies this edition among the session's others; `None` for a file without blocks.
pub fn identity(db: &Db) -> io::Result<Option<u64>> {
    let found = db.run(|c| {
        c.query_row("SELECT identity FROM about", [], |row| row.get::<_, i64>(0)).optional()
    })?;
    Ok(found.map(|identity| identity as u64))
}
