//! What surgery wrote: the log that `undo` and `inject` read.

use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::{Error, Index, rows};
use base::atomic::Mark;
use base::clock::Time;

/// A file that an operation wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The new session's id.
    pub id: String,
    /// When it was made.
    pub made: Time,
    /// What was done, as a verb would say it: `compress-before 2026-03-19T10:23Z`.
    pub operation: String,
    /// The file.
    pub path: String,
    /// Its size as it was written.
    pub bytes: u64,
    /// Its SHA-256 as it was written, in hex; empty where it has a mark.
    pub sha256: String,
    /// When it was taken back.
    pub undone: Option<Time>,
    /// What else is to be known of it.
    pub detail: Detail,
}

/// What an export was made of.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Detail {
    /// What the file was as it was written. Its time of the last change is 0 until it has its
    /// name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// The sessions it was made from: agent and id.
    pub sources: Vec<(String, String)>,
    /// The files that were written into the folder beside it.
    pub companions: Vec<Beside>,
    /// The rounds its index tables name: source, by its place in `sources`, and number.
    pub index: Vec<(usize, u32)>,
    /// The same by what they are of, with those of tables that came along in kept rounds.
    /// Empty in records of before 2026-11-22, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<Numbers>,
}

/// Rounds of a session that an index table names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbers {
    /// Who ran the session.
    pub agent: String,
    /// Its id.
    pub session: String,
    /// Which edition of it ([`crate::blocks::identity`]), where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// From which to which, both included.
    pub rounds: Vec<(u32, u32)>,
}

impl Numbers {
    /// Those of these numbers.
    pub fn of(
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

    /// Whether the round is one of them.
    pub fn names(&self, seq: u32) -> bool {
        self.rounds.iter().any(|(from, to)| (*from..=*to).contains(&seq))
    }
}

impl Detail {
    /// The rounds that numbers in its tables mean.
    pub fn numbers(&self) -> Vec<Numbers> {
        if !self.tables.is_empty() {
            return self.tables.clone();
        }
        let of = |(number, (agent, session)): (usize, &(String, String))| {
            let seqs = self.index.iter().filter(|(source, _)| *source == number);
            Numbers::of(agent, session, None, seqs.map(|(_, seq)| *seq))
        };
        let all = self.sources.iter().enumerate().map(of);
        all.filter(|numbers| !numbers.rounds.is_empty()).collect()
    }
}

/// A file that was written beside an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// The file.
    pub path: String,
    /// Its size as it was written.
    pub bytes: u64,
    /// Its SHA-256 as it was written, in hex; empty where it has a mark.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// What it was as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
}

impl Index {
    /// Notes an export.
    ///
    /// # Errors
    /// [`enum@Error`]; one of that id is there.
    pub fn add_export(&self, export: &Export) -> Result<(), Error> {
        self.all_made()?.run(|c| {
            c.execute(
                "INSERT INTO exports(id, made, operation, path, bytes, sha256, undone, detail) \
                 VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    export.id,
                    rows::time(export.made),
                    export.operation,
                    export.path,
                    export.bytes as i64,
                    export.sha256,
                    export.undone.map(rows::time),
                    rows::json(&export.detail)?,
                ],
            )
        })?;
        Ok(())
    }

    /// All exports, the oldest first.
    ///
    /// # Errors
    /// [`enum@Error`].
    pub fn exports(&self) -> Result<Vec<Export>, Error> {
        let Some(all) = self.all()? else { return Ok(Vec::new()) };
        all.run(|c| {
            let mut query = c.prepare(
                "SELECT id, made, operation, path, bytes, sha256, undone, detail FROM exports \
                 ORDER BY made, id",
            )?;
            let export = |row: &rusqlite::Row| {
                Ok(Export {
                    id: row.get(0)?,
                    made: rows::at(row, 1)?.unwrap_or_default(),
                    operation: row.get(2)?,
                    path: row.get(3)?,
                    bytes: row.get::<_, i64>(4)? as u64,
                    sha256: row.get(5)?,
                    undone: rows::at(row, 6)?,
                    detail: rows::of_json(row, 7)?,
                })
            };
            query.query_map([], export)?.collect()
        })
    }

    /// Notes what else came to be known of an export.
    ///
    /// # Errors
    /// [`enum@Error`].
    pub fn detail_export(&self, id: &str, detail: &Detail) -> Result<(), Error> {
        self.all_made()?.run(|c| {
            c.execute("UPDATE exports SET detail = ?2 WHERE id = ?1", [id, &rows::json(detail)?])
        })?;
        Ok(())
    }

    /// Notes that an export was taken back.
    ///
    /// # Errors
    /// [`enum@Error`].
    pub fn undo_export(&self, id: &str, now: Time) -> Result<(), Error> {
        self.all_made()?.run(|c| {
            c.execute("UPDATE exports SET undone = ?2 WHERE id = ?1", [id, &rows::time(now)])
        })?;
        Ok(())
    }
}
