//! Takes sessions out of the databases across them, for `purge`.

use std::path::PathBuf;

use rusqlite::params;

use super::{Error, Index, record, schema};
use crate::blocks::Folder;
use crate::database::Db;

/// Where an imported session is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Who ran it.
    pub agent: String,
    /// Its id.
    pub session: String,
    /// The file it was read from.
    pub source: Option<PathBuf>,
    /// The folder it ran in.
    pub cwd: Option<PathBuf>,
}

impl Index {
    /// Where each imported session is from.
    ///
    /// # Errors
    /// [`enum@Error`].
    pub fn origins(&self) -> Result<Vec<Origin>, Error> {
        let Some(all) = self.all()? else { return Ok(Vec::new()) };
        all.run(|c| {
            let mut query = c.prepare("SELECT agent, session_id, source, cwd FROM sessions")?;
            let path = |text: Option<String>| text.map(PathBuf::from);
            let origin = |row: &rusqlite::Row| {
                let (source, cwd) = (path(row.get(2)?), path(row.get(3)?));
                Ok(Origin { agent: row.get(0)?, session: row.get(1)?, source, cwd })
            };
            query.query_map([], origin)?.collect()
        })
    }

    /// Takes a session out of search, then out of the list of sessions. Its folder goes last:
    /// where this ends halfway, the same call ends it.
    ///
    /// # Errors
    /// [`enum@Error`].
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

    /// Writes the databases across sessions anew: what was deleted is still in their files until
    /// then.
    ///
    /// # Errors
    /// [`enum@Error`].
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
