//! The log of what surgery wrote; `surgery remove` and `show` read it.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::{Error, Index, rows};
use base::atomic::Mark;
use base::clock::Time;
use sessions::origin::Named;

/// A file that an operation wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The new session's id.
    pub id: String,
    /// When it was made.
    pub made: Time,
    /// The operation as on the command line: `compress-before 2026-03-19T10:23Z`.
    pub operation: String,
    /// The file.
    pub path: String,
    /// Its size when it was written.
    pub bytes: u64,
    /// When it was removed.
    pub removed: Option<Time>,
    /// Further details.
    pub detail: Detail,
}

/// Details of an export.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Detail {
    /// The file's mark when it was written. Its modification time is 0 until it has its final name.
    pub mark: Mark,
    /// The sessions it was made from: agent and id.
    pub sources: Vec<(String, String)>,
    /// The files written into the folder beside it.
    pub companions: Vec<Beside>,
    /// The rounds its index tables name by session, including the tables in kept rounds.
    pub tables: Vec<Numbers>,
}

/// Rounds of a session that an index table names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbers {
    /// The agent that ran the session.
    pub agent: String,
    /// Its id.
    pub session: String,
    /// Its edition ([`crate::blocks::identity`]), if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Ranges of rounds, both ends included.
    pub rounds: Vec<(u32, u32)>,
}

impl Numbers {
    /// Groups round numbers into ranges.
    pub fn from_seqs(
        agent: &str,
        session: &str,
        blocks: Option<u64>,
        seqs: impl Iterator<Item = u32>,
    ) -> Self {
        let mut rounds: Vec<(u32, u32)> = Vec::new();
        for seq in seqs {
            match rounds.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(seq) => *last = seq,
                _ => rounds.push((seq, seq)),
            }
        }
        Self { agent: agent.to_owned(), session: session.to_owned(), blocks, rounds }
    }

    /// Whether the round is among them.
    pub fn names(&self, seq: u32) -> bool {
        self.rounds.iter().any(|(from, to)| (*from..=*to).contains(&seq))
    }
}

/// A file written beside an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// The file.
    pub path: String,
    /// Its size when it was written.
    pub bytes: u64,
    /// Its mark when it was written.
    pub mark: Mark,
}

impl Index {
    /// Adds an export to the log; fails if its id is already there.
    pub fn add_export(&self, export: &Export) -> Result<(), Error> {
        self.make_sessions_db()?.run(|c| {
            c.execute(
                "INSERT INTO exports(id, made, operation, path, bytes, removed, detail) \
                 VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    export.id,
                    rows::time(export.made),
                    export.operation,
                    export.path,
                    export.bytes as i64,
                    export.removed.map(rows::time),
                    rows::json(&export.detail)?,
                ],
            )
        })?;
        Ok(())
    }

    /// All exports, oldest first.
    pub fn exports(&self) -> Result<Vec<Export>, Error> {
        let Some(all) = self.all()? else { return Ok(Vec::new()) };
        all.run(|c| {
            let mut query = c.prepare(
                "SELECT id, made, operation, path, bytes, removed, detail FROM exports \
                 ORDER BY made, id",
            )?;
            let export = |row: &rusqlite::Row| {
                Ok(Export {
                    id: row.get(0)?,
                    made: rows::at(row, 1)?.unwrap_or_default(),
                    operation: row.get(2)?,
                    path: row.get(3)?,
                    bytes: row.get::<_, i64>(4)? as u64,
                    removed: rows::at(row, 5)?,
                    detail: rows::of_json(row, 6)?,
                })
            };
            query.query_map([], export)?.collect()
        })
    }

    /// The ids of sessions that others point to: what others hold copies of or name in a table, and
    /// what files of surgery were made from.
    pub fn pointed_to(&self) -> Result<BTreeSet<String>, Error> {
        let Some(all) = self.all()? else { return Ok(BTreeSet::new()) };
        let mut found = all.run(|c| {
            let mut origins = c.prepare(
                "SELECT DISTINCT origin_session FROM rounds \
                 WHERE origin_session IS NOT NULL AND origin_session != session_id",
            )?;
            let origins = origins.query_map([], |row| row.get(0))?;
            let mut found = origins.collect::<rusqlite::Result<BTreeSet<String>>>()?;
            let mut tables =
                c.prepare("SELECT session_id, names FROM rounds WHERE names IS NOT NULL")?;
            let mut rows = tables.query([])?;
            while let Some(row) = rows.next()? {
                let (session, named): (String, Vec<Named>) = (row.get(0)?, rows::of_json(row, 1)?);
                found.extend(named.into_iter().map(|n| n.session).filter(|id| *id != session));
            }
            Ok(found)
        })?;
        let known: BTreeSet<String> = self.imported()?.into_iter().map(|one| one.session).collect();
        let exports = self.exports()?.into_iter().filter(|export| export.removed.is_none());
        for export in exports.filter(|e| known.contains(&e.id) || Path::new(&e.path).exists()) {
            found.extend(export.detail.tables.into_iter().map(|numbers| numbers.session));
            found.extend(export.detail.sources.into_iter().map(|(_, session)| session));
        }
        Ok(found)
    }

    /// Updates the details of an export.
    pub fn detail_export(&self, id: &str, detail: &Detail) -> Result<(), Error> {
        self.make_sessions_db()?.run(|c| {
            c.execute("UPDATE exports SET detail = ?2 WHERE id = ?1", [id, &rows::json(detail)?])
        })?;
        Ok(())
    }

    /// Marks an export as removed.
    pub fn mark_removed(&self, id: &str, now: Time) -> Result<(), Error> {
        self.make_sessions_db()?.run(|c| {
            c.execute("UPDATE exports SET removed = ?2 WHERE id = ?1", [id, &rows::time(now)])
        })?;
        Ok(())
    }
}
