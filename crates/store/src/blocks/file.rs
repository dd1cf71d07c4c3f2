//! A file of blocks: its tables, its name and its size.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rusqlite::{OptionalExtension as _, params};

use super::packs;
use crate::database::{Db, Journal, Schema};

/// `blocks`: a block's `id` is its round in the upper half and its number there in the lower, so
/// that they follow each other as the rows do; `first` is the number of its first row, `count`
/// how many it has, `bytes` their length. `about`: the session, what tells these blocks from
/// other editions, and up to where packs were copied (null: they are done with).
pub const SCHEMA: Schema = Schema {
    steps: &["CREATE TABLE blocks(
        id INTEGER PRIMARY KEY,
        first INTEGER NOT NULL,
        count INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        sha256 BLOB NOT NULL,
        rows BLOB NOT NULL);
    CREATE TABLE about(
        one INTEGER PRIMARY KEY CHECK(one = 1),
        session TEXT NOT NULL,
        identity INTEGER NOT NULL,
        packs INTEGER);"],
    journal: Journal::File,
};

/// A block's id.
pub fn id(round: u32, block: u32) -> i64 {
    i64::from(round) << 32 | i64::from(block)
}

/// The round of a block.
pub fn round(id: i64) -> u32 {
    (id >> 32) as u32
}

/// Says what a new file is of.
///
/// # Errors
/// What the system says.
pub fn begin(db: &Db) -> io::Result<()> {
    let path = db.path();
    let session = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    // Packs were told from those of other editions by the inode of their folder.
    let inode = fs::metadata(packs::of(path)).ok().map(|folder| folder.ino() as i64);
    db.run(|c| {
        c.execute(
            "INSERT OR IGNORE INTO about VALUES(1, ?1, coalesce(?2, abs(random() / 2)), ?3)",
            params![session, inode, inode.map(|_| 0)],
        )
    })?;
    Ok(())
}

/// What tells these blocks from those of other editions; none where there are none.
///
/// # Errors
/// What the system says.
pub fn identity(db: &Db) -> io::Result<Option<u64>> {
    let found = db.run(|c| {
        c.query_row("SELECT identity FROM about", [], |row| row.get::<_, i64>(0)).optional()
    })?;
    Ok(found.map(|identity| identity as u64))
}
