//! Rows out of the blocks, each block verified by its digest.

use std::io;

use memchr::memchr_iter;
use rusqlite::{OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use super::file;
use crate::database::Db;
use sessions::rows::Rows;

/// What an error about damage says.
const WAY_OUT: &str = "`brain-guard store check --repair` takes the session from its file anew";

/// Reads the rows of a session.
#[derive(Debug)]
pub struct Reader {
    db: Db,
}

/// How much there is of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Its rounds; rows before the first are none.
    pub rounds: u64,
    /// Its rows.
    pub rows: u64,
    /// Its blocks.
    pub blocks: u64,
    /// Bytes of its rows.
    pub bytes: u64,
}

/// A block as it is kept.
struct Stored {
    id: i64,
    first: u64,
    count: u64,
    bytes: usize,
    sha256: Vec<u8>,
    rows: Vec<u8>,
}

impl Reader {
    pub(super) fn new(db: Db) -> Self {
        Self { db }
    }

    /// The session that they are of, as its folder is called; none without rows.
    ///
    /// # Errors
    /// What the system says.
    pub fn session(&self) -> io::Result<Option<String>> {
        Ok(self
            .db
            .run(|c| c.query_row("SELECT session FROM about", [], |row| row.get(0)).optional())?)
    }

    /// How much there is, without reading it.
    ///
    /// # Errors
    /// What the system says.
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

    /// Puts the rows of a round into `rows`.
    ///
    /// # Errors
    /// `NotFound` where it is not there, `InvalidData` where it is damaged.
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

    /// Writes the session's rows as they were; returns their bytes.
    ///
    /// # Errors
    /// What the system says; `InvalidData` for damage.
    pub fn original(&self, to: &mut dyn io::Write) -> io::Result<u64> {
        let mut length = 0;
        self.blocks(0, |_, rows| {
            length += rows.len() as u64;
            to.write_all(rows)
        })?;
        Ok(length)
    }

    /// Hands out the rows, from one on, each with its round.
    ///
    /// # Errors
    /// What the system says, and what `each` does; `InvalidData` for damage.
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

    /// Hands out the blocks that hold row `from` and those behind it.
    fn blocks(
        &self,
        from: u64,
        mut each: impl FnMut(&Stored, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        // Backwards: as a rule the last rows are asked for, or all.
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

    /// The next block behind one. Nothing is locked between two: whoever takes the rows may be
    /// slow.
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

    /// The rows of a block, verified.
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

    /// Whether the pages of the database fit together.
    ///
    /// # Errors
    /// `InvalidData` where they don't.
    pub fn sound(&self) -> io::Result<()> {
        let said: String =
            self.db.run(|c| c.pragma_query_value(None, "quick_check", |row| row.get(0)))?;
        if said == "ok" { Ok(()) } else { Err(self.damaged(&said)) }
    }
}
