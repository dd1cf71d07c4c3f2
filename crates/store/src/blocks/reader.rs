//! Reads rows from blocks and verifies each block by its digest.

use std::io;
use std::path::Path;

use memchr::memchr_iter;
use rusqlite::{OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use super::file::{self, SCHEMA};
use super::root::Folder;
use crate::database::Db;
use sessions::rows::Rows;

/// What errors about damage recommend.
const WAY_OUT: &str = "run `brain-guard doctor --fix` to import the session from its file again";

/// Reads the rows of a session.
#[derive(Debug)]
pub struct Reader {
    db: Db,
}

/// How much the store has of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Its rounds. Rows before the first belong to none.
    pub rounds: u64,
    /// Its rows.
    pub rows: u64,
    /// Its blocks.
    pub blocks: u64,
    /// Bytes of its rows.
    pub bytes: u64,
}

/// A block as stored.
struct Stored {
    id: i64,
    first: u64,
    count: u64,
    bytes: usize,
    sha256: Vec<u8>,
    rows: Vec<u8>,
}

/// Identifies the blocks in a file among the session's editions, whatever the file's name. `None`
/// if it has no blocks or is unreadable.
pub fn identity(blocks: &Path) -> Option<u64> {
    let db = Db::read(blocks, SCHEMA).ok()??;
    file::identity(&db).ok()?
}

impl Reader {
    /// Opens a session's rows.
    ///
    /// # Errors
    /// `NotFound` if the store has none.
    pub fn open(folder: &Folder) -> io::Result<Self> {
        Self::open_file(&folder.blocks())
    }

    /// Opens the rows in a block file.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn open_file(path: &Path) -> io::Result<Self> {
        let none = || {
            let why = format!(
                "{}: this session is not in the store; import it with `brain-guard import PATH`",
                path.display()
            );
            io::Error::new(io::ErrorKind::NotFound, why)
        };
        Ok(Self { db: Db::read(path, SCHEMA)?.ok_or_else(none)? })
    }

    /// The session, by its folder's name; `None` if there are no rows.
    pub fn session(&self) -> io::Result<Option<String>> {
        Ok(self
            .db
            .run(|c| c.query_row("SELECT session FROM about", [], |row| row.get(0)).optional())?)
    }

    /// Counts rounds, blocks, rows and bytes without reading the rows.
    pub fn totals(&self) -> io::Result<Totals> {
        const COUNT: &str = "SELECT count(DISTINCT nullif(id >> 32, 0)), count(*), \
             coalesce(sum(count), 0), coalesce(sum(bytes), 0) FROM blocks";
        let number = |row: &rusqlite::Row, column| row.get::<_, i64>(column).map(|n| n as u64);
        Ok(self.db.run(|c| {
            c.query_row(COUNT, [], |row| {
                Ok(Totals {
                    rounds: number(row, 0)?,
                    blocks: number(row, 1)?,
                    rows: number(row, 2)?,
                    bytes: number(row, 3)?,
                })
            })
        })?)
    }

    /// Reads the rows of a round into `rows`.
    ///
    /// # Errors
    /// `NotFound` if the round is missing, `InvalidData` if it is damaged.
    pub fn round(&self, seq: u32, rows: &mut Rows) -> io::Result<()> {
        rows.clear();
        let mut at = file::id(seq, 0) - 1;
        while let Some(stored) = self.next(at, file::id(seq, u32::MAX))? {
            at = stored.id;
            let start = rows.bytes.len();
            rows.bytes.extend_from_slice(&self.unpack(&stored)?);
            let ends = memchr_iter(b'\n', &rows.bytes[start..]).map(|end| start + end + 1);
            rows.ends.extend(ends);
        }
        if rows.ends.is_empty() {
            let path = self.db.path().display();
            let why = format!("{path}: there is no round {seq}; {WAY_OUT}");
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }
        Ok(())
    }

    /// Writes the session's rows as they were imported; returns their bytes.
    ///
    /// # Errors
    /// `InvalidData` for damage.
    pub fn original(&self, to: &mut dyn io::Write) -> io::Result<u64> {
        let mut length = 0;
        self.blocks(0, |_, rows| {
            length += rows.len() as u64;
            to.write_all(rows)
        })?;
        Ok(length)
    }

    /// Passes the rows from number `from` on, each with its round, to `each`.
    ///
    /// # Errors
    /// `InvalidData` for damage; errors of `each`.
    pub fn rows(
        &self,
        from: u64,
        mut each: impl FnMut(u32, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut number = None;
        self.blocks(from, |block, rows| {
            let mut row = number.unwrap_or(block.first);
            for line in rows.split_inclusive(|byte| *byte == b'\n') {
                if row >= from {
                    each(file::round(block.id), line)?;
                }
                row += 1;
            }
            number = Some(row);
            Ok(())
        })
    }

    /// Passes the block that has row `from`, and all later ones, to `each`.
    fn blocks(
        &self,
        from: u64,
        mut each: impl FnMut(&Stored, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        // Descending, because callers usually want the last rows, or all.
        const HOLDS: &str = "SELECT id FROM blocks WHERE first <= ?1 ORDER BY id DESC LIMIT 1";
        let mut at = if from == 0 {
            -1
        } else {
            let held = self.db.run(|c| {
                c.query_row(HOLDS, [from as i64], |row| row.get::<_, i64>(0)).optional()
            })?;
            held.unwrap_or_default() - 1
        };
        let mut expected = None;
        while let Some(stored) = self.next(at, i64::MAX)? {
            let number = expected.unwrap_or(if from == 0 { 0 } else { stored.first });
            if stored.first != number {
                return Err(self.damaged(&format!("row {number} is missing")));
            }
            expected = Some(number + stored.count);
            at = stored.id;
            each(&stored, &self.unpack(&stored)?)?;
        }
        Ok(())
    }

    /// The block after `behind`. No lock is held between two calls, because consumers may be slow.
    fn next(&self, behind: i64, last: i64) -> io::Result<Option<Stored>> {
        const NEXT: &str = "SELECT id, first, count, bytes, sha256, rows FROM blocks \
             WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT 1";
        Ok(self.db.run(|c| {
            let mut next = c.prepare_cached(NEXT)?;
            next.query_row(params![behind, last], |row| {
                Ok(Stored {
                    id: row.get(0)?,
                    first: row.get::<_, i64>(1)? as u64,
                    count: row.get::<_, i64>(2)? as u64,
                    bytes: row.get::<_, i64>(3)? as usize,
                    sha256: row.get(4)?,
                    rows: row.get(5)?,
                })
            })
            .optional()
        })?)
    }

    /// Decompresses a block and verifies it.
    fn unpack(&self, block: &Stored) -> io::Result<Vec<u8>> {
        let rows = zstd::bulk::decompress(&block.rows, block.bytes);
        let rows = rows.ok().filter(|rows| {
            let ends = memchr_iter(b'\n', rows).count() as u64;
            rows.last() == Some(&b'\n')
                && ends == block.count
                && Sha256::digest(rows).as_slice() == block.sha256
        });
        rows.ok_or_else(|| {
            let round = file::round(block.id);
            self.damaged(&format!(
                "row {} of round {round} is not what its digest says",
                block.first
            ))
        })
    }

    fn damaged(&self, what: &str) -> io::Error {
        let why = format!("{} is damaged: {what}; {WAY_OUT}", self.db.path().display());
        io::Error::new(io::ErrorKind::InvalidData, why)
    }

    /// Checks the pages of the database.
    ///
    /// # Errors
    /// `InvalidData` if they are inconsistent.
    pub fn check_pages(&self) -> io::Result<()> {
        let said: String =
            self.db.run(|c| c.pragma_query_value(None, "quick_check", |row| row.get(0)))?;
        if said == "ok" { Ok(()) } else { Err(self.damaged(&said)) }
    }
}
