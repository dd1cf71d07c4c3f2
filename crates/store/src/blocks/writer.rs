//! Writes rows into blocks.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};
use zstd::bulk::Compressor;

use super::file::{self, SCHEMA};
use crate::database::Db;

/// Bytes of rows that are compressed together; a longer row is a block of its own.
const BLOCK: usize = 256 * 1024;

/// Measured on 1 GB of sessions: level 3 takes a quarter longer and saves 6 % of the space.
const LEVEL: i32 = 1;

/// Appends rows. The caller holds the session's lock.
#[derive(Debug, Default)]
pub struct Writer {
    path: PathBuf,
    /// `None` until the first row, if the file does not exist.
    db: Option<Db>,
    /// Whether a transaction is open.
    begun: bool,
    /// Rows of the next block.
    gathered: Vec<u8>,
    count: u64,
    round: u32,
    /// The number of the next block in its round.
    block: u32,
    /// All rows, including the gathered ones.
    rows: u64,
}

impl Writer {
    /// Opens a block file to append to; the first row creates it.
    pub fn open(path: &Path) -> io::Result<Self> {
        const LAST: &str = "SELECT id, first + count FROM blocks ORDER BY id DESC LIMIT 1";
        let mut writer = Self { path: path.to_owned(), ..Self::default() };
        if !path.exists() {
            return Ok(writer);
        }
        let db = writer.db.insert(Db::make(path, SCHEMA)?);
        let last = db.run(|c| {
            let last = |row: &rusqlite::Row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
            c.query_row(LAST, [], last).optional()
        })?;
        if let Some((id, rows)) = last {
            (writer.round, writer.block) = (file::round(id), id as u32 + 1);
            writer.rows = rows as u64;
        }
        Ok(writer)
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Writes a row, with its newline. It is on disk after [`Writer::commit`]; after an error, what
    /// was not committed is lost.
    pub fn row(&mut self, round: u32, row: &[u8]) -> io::Result<()> {
        let full = self.gathered.len() + row.len() > BLOCK;
        if self.count > 0 && (round != self.round || full) {
            self.flush()?;
        }
        if round != self.round {
            (self.round, self.block) = (round, 0);
        }
        self.rows += 1;
        if row.len() >= BLOCK {
            // Avoids a second copy of a long row.
            return self.block(row, 1);
        }
        self.gathered.extend_from_slice(row);
        self.count += 1;
        Ok(())
    }

    /// Commits the rows written so far.
    pub fn commit(&mut self) -> io::Result<()> {
        self.flush()?;
        if let Some(db) = self.db.as_ref().filter(|_| self.begun) {
            db.run(|c| c.execute_batch("COMMIT"))?;
            self.begun = false;
        }
        Ok(())
    }

    /// Writes the gathered rows as a block.
    fn flush(&mut self) -> io::Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        let mut gathered = std::mem::take(&mut self.gathered);
        self.block(&gathered, self.count)?;
        self.count = 0;
        gathered.clear();
        self.gathered = gathered;
        Ok(())
    }

    /// Writes `rows`, the last ones so far, as a block.
    fn block(&mut self, rows: &[u8], count: u64) -> io::Result<()> {
        let (id, first) = (file::id(self.round, self.block), self.rows - count);
        let packed = Compressor::new(LEVEL)?.compress(rows)?;
        let digest = Sha256::digest(rows);
        self.db()?.run(|c| {
            let mut add = c.prepare_cached("INSERT INTO blocks VALUES(?1, ?2, ?3, ?4, ?5, ?6)")?;
            let (first, count, bytes) = (first as i64, count as i64, rows.len() as i64);
            add.execute(params![id, first, count, bytes, digest.as_slice(), packed])
        })?;
        self.block += 1;
        Ok(())
    }

    /// The database, in a transaction.
    fn db(&mut self) -> io::Result<&Db> {
        let db = match self.db.take() {
            Some(db) => db,
            None => Db::make(&self.path, SCHEMA)?,
        };
        let db = self.db.insert(db);
        if !self.begun {
            db.run(|c| c.execute_batch("BEGIN IMMEDIATE"))?;
            file::begin(db)?;
            self.begun = true;
        }
        Ok(db)
    }
}
