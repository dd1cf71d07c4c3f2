//! Removes sessions from the databases across sessions, for `purge`.

use std::path::PathBuf;

use rusqlite::params;

use super::{Error, Index, record, schema};
use crate::blocks::Folder;
use crate::database::Db;

/// Where an imported session comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The agent that ran it.
    pub agent: String,
    /// Its id.
    pub session: String,
    /// The file it was read from.
    pub source: Option<PathBuf>,
    /// The folder it ran in.
    pub cwd: Option<PathBuf>,
}

impl Index {
    /// Where each imported session comes from.
    pub fn imported(&self) -> Result<Vec<Imported>, Error> {
        let Some(all) = self.all()? else { return Ok(Vec::new()) };
        all.run(|c| {
            let mut query = c.prepare("SELECT agent, session_id, source, cwd FROM sessions")?;
            let path = |text: Option<String>| text.map(PathBuf::from);
            let imported = |row: &rusqlite::Row| {
                let (source, cwd) = (path(row.get(2)?), path(row.get(3)?));
                Ok(Imported { agent: row.get(0)?, session: row.get(1)?, source, cwd })
            };
            query.query_map([], imported)?.collect()
        })
    }

    /// Removes a session from search, then from the list of sessions. Its folder goes last, so that
    /// the same call can finish after an interruption.
    pub fn forget(&self, folder: &Folder) -> Result<(), Error> {
        let key = params![folder.session, folder.agent];
        let path = self.root.sessions().join("search.db");
        if let Some(search) = Db::read(&path, schema::SEARCH)? {
            let transaction = search.begin()?;
            search.run(|c| {
                let mut find =
                    c.prepare("SELECT number FROM sessions WHERE session_id = ?1 AND agent = ?2")?;
                let numbers: Vec<i64> =
                    find.query_map(key, |row| row.get(0))?.collect::<Result<_, _>>()?;
                for number in numbers {
                    let words = [record::rowid(number, 0), record::rowid(number, u32::MAX)];
                    c.execute("DELETE FROM words WHERE rowid BETWEEN ?1 AND ?2", words)?;
                }
                c.execute("DELETE FROM sessions WHERE session_id = ?1 AND agent = ?2", key)
            })?;
            search.commit(transaction)?;
        }
        let Some(all) = self.all()? else { return Ok(()) };
        let transaction = all.begin()?;
        all.run(|c| {
            c.execute("DELETE FROM rounds WHERE session_id = ?1 AND agent = ?2", key)?;
            c.execute("DELETE FROM sessions WHERE session_id = ?1 AND agent = ?2", key)
        })?;
        all.commit(transaction)
    }

    /// Rewrites the databases across sessions: until then their files still hold deleted data.
    pub fn compact(&self) -> Result<(), Error> {
        let path = self.root.sessions().join("search.db");
        if let Some(search) = Db::read(&path, schema::SEARCH)? {
            search.run(|c| c.execute("INSERT INTO words(words) VALUES('optimize')", []))?;
            rewrite(&search)?;
        }
        self.all()?.map_or(Ok(()), |all| rewrite(&all))
    }
}

fn rewrite(db: &Db) -> Result<(), Error> {
    db.run(|c| c.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);"))
}
