//! Finds faults in the databases and repairs them.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use super::{Error, Index, mirror, schema};
use crate::blocks::Folder;
use crate::database::{Db, Schema};

/// A fault in a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The database.
    pub path: PathBuf,
    /// The session, if it concerns only one.
    pub session: Option<Folder>,
    /// What is wrong.
    pub what: String,
    /// Whether the database is unusable.
    pub damaged: bool,
    /// Whether the session must be indexed again from its blocks.
    pub anew: bool,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.what)
    }
}

/// Revisions of sessions, by id and agent.
type Revisions = BTreeMap<(String, String), i64>;

impl Index {
    /// Finds faults in the databases of `folders`, which are all sessions of the store, and in
    /// those across sessions. An error means that something else than a fault stopped it.
    pub fn check(&self, folders: &[Folder]) -> Result<Vec<Fault>, Error> {
        let mut faults = Vec::new();
        let (all, search) = (self.across("sessions.db"), self.across("search.db"));
        let of = "SELECT session_id, agent, revision FROM sessions";
        let repeated = revisions(&all, schema::SESSIONS, of, &mut faults)?;
        let of = "SELECT session_id, agent, recorded FROM sessions";
        let said = revisions(&search, schema::SEARCH, of, &mut faults)?;
        for folder in folders {
            let path = folder.database();
            let fault = |what: &str, path: &Path, damaged, anew| Fault {
                path: path.to_owned(),
                session: Some(folder.clone()),
                what: what.to_owned(),
                damaged,
                anew,
            };
            let own = match sound(&path, schema::SESSION) {
                Ok(Some(own)) => own,
                Ok(None) => {
                    faults.push(fault("is missing", &path, false, true));
                    continue;
                }
                Err(Error::Damaged { why, .. }) => {
                    faults.push(fault(&why, &path, true, true));
                    continue;
                }
                Err(e) => return Err(e),
            };
            let (revision, recorded) = own.run(|c| {
                let mut query = c.prepare("SELECT revision, recorded FROM session")?;
                let mut rows = query.query([])?;
                rows.next()?.map_or(Ok((0, 0)), |row| Ok((row.get(0)?, row.get(1)?)))
            })?;
            let key = (folder.session.clone(), folder.agent.clone());
            if revision == 0 {
                faults.push(fault("holds no session", &path, false, true));
            } else if said.as_ref().is_some_and(|said| said.get(&key) != Some(&recorded)) {
                let what = format!("is out of date for session {}", folder.session);
                faults.push(fault(&what, &search, false, true));
            }
            let lags = |at: &Revisions| at.get(&key).copied().unwrap_or_default() != revision;
            if revision > 0 && repeated.as_ref().is_some_and(lags) {
                let what = format!("is out of date for session {}", folder.session);
                faults.push(fault(&what, &all, false, false));
            }
        }
        Ok(faults)
    }

    /// Repairs the databases that [`Index::check`] found faulty: renames damaged ones, and copies
    /// sessions into `sessions.db` again. Returns the sessions to index again from their blocks
    /// ([`Index::reset`], [`Index::record`]); their tags are kept.
    pub fn repair(&self, folders: &[Folder], faults: &[Fault]) -> Result<Vec<Folder>, Error> {
        let across = faults.iter().filter(|fault| fault.session.is_none() && fault.damaged);
        for fault in across {
            self.close();
            set_aside(&fault.path)?;
            if fault.path.ends_with("sessions.db") {
                for folder in folders {
                    // Sessions that are damaged, too, follow below.
                    let _ = self.repeat(folder);
                }
            }
        }
        let mut anew = Vec::new();
        for fault in faults {
            let Some(folder) = &fault.session else { continue };
            if fault.damaged {
                self.close();
                set_aside(&fault.path)?;
            }
            if fault.anew {
                self.keep_tags(folder)?;
                if !anew.contains(folder) {
                    anew.push(folder.clone());
                }
            } else {
                self.repeat(folder)?;
            }
        }
        if faults.iter().any(|fault| fault.damaged && fault.path.ends_with("search.db")) {
            anew = folders.to_vec();
        }
        Ok(anew)
    }

    /// Copies a session's tags from `sessions.db` into its new database.
    fn keep_tags(&self, folder: &Folder) -> Result<(), Error> {
        let (own, all) = (self.own(folder)?, self.make_sessions_db()?);
        if own.run(mirror::revision)? > 0 {
            return Ok(());
        }
        let tags = all.run(|c| {
            let mut query = c.prepare(
                "SELECT first_id, engagement_id FROM rounds \
                 WHERE session_id = ?1 AND agent = ?2 AND first_id IS NOT NULL",
            )?;
            let tag = |row: &rusqlite::Row| Ok((row.get(0)?, row.get(1)?));
            query
                .query_map([&folder.session, &folder.agent], tag)?
                .collect::<rusqlite::Result<Vec<(String, Option<String>)>>>()
        })?;
        let transaction = own.begin()?;
        own.run(|c| {
            let mut keep = c.prepare("INSERT OR REPLACE INTO kept VALUES(?1, ?2)")?;
            tags.iter().try_for_each(|(id, tag)| keep.execute(params![id, tag]).map(|_| ()))
        })?;
        own.commit(transaction)?;
        all.run(|c| {
            c.execute(
                "UPDATE sessions SET revision = 0 WHERE session_id = ?1 AND agent = ?2",
                [&folder.session, &folder.agent],
            )
        })?;
        Ok(())
    }

    fn across(&self, name: &str) -> PathBuf {
        self.root.sessions().join(name)
    }

    fn close(&self) {
        self.all.take();
        self.search.take();
        self.own.take();
    }
}

/// The sessions and revisions in a database across sessions. `None`, and a fault, if it is damaged.
fn revisions(
    path: &Path,
    schema: Schema,
    query: &str,
    faults: &mut Vec<Fault>,
) -> Result<Option<Revisions>, Error> {
    let read = |c: &Connection| {
        let mut query = c.prepare(query)?;
        let revision = |row: &rusqlite::Row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?));
        query.query_map([], revision)?.collect::<rusqlite::Result<Revisions>>()
    };
    match sound(path, schema) {
        Ok(Some(db)) => db.run(read).map(Some),
        Ok(None) => Ok(Some(Revisions::new())),
        Err(Error::Damaged { why, .. }) => {
            let path = path.to_owned();
            faults.push(Fault { path, session: None, what: why, damaged: true, anew: false });
            Ok(None)
        }
        Err(e) => Err(e),
    }
}

/// Opens a database and checks its pages.
fn sound(path: &Path, schema: Schema) -> Result<Option<Db>, Error> {
    let Some(db) = Db::read(path, schema)? else { return Ok(None) };
    let said: String = db.run(|c| c.pragma_query_value(None, "quick_check", |row| row.get(0)))?;
    if said == "ok" {
        Ok(Some(db))
    } else {
        Err(Error::Damaged { path: path.to_owned(), why: said })
    }
}

impl Index {
    /// Counts sessions of the store that the databases across sessions or the search lack. An
    /// import adds each session there, so these were lost.
    pub fn unknown(&self) -> Result<usize, Error> {
        let count = |db: &Db| {
            db.run(|c| c.query_row("SELECT count(*) FROM sessions", [], |row| row.get::<_, i64>(0)))
        };
        let path = self.root.sessions().join("search.db");
        let found = Db::read(&path, schema::SEARCH)?.as_ref().map_or(Ok(0), count)?;
        let known = self.all()?.as_deref().map_or(Ok(0), count)?.min(found);
        let all =
            self.root.all().map_err(|source| Error::Io { path: self.root.sessions(), source })?;
        let there = all.iter().filter(|folder| folder.database().is_file()).count();
        Ok(there.saturating_sub(known as usize))
    }
}

/// Renames a database and its side files to `.damaged`.
fn set_aside(path: &Path) -> Result<(), Error> {
    for end in ["-shm", "-wal", ""] {
        let with = |text: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(text);
            PathBuf::from(name)
        };
        let from = with(end);
        match fs::rename(&from, with(&format!(".damaged{end}"))) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(Error::io(&from, e)),
            _ => {}
        }
    }
    Ok(())
}
