//! The index over the store: rounds, tags, search (SQLite with FTS5, write-ahead log). What is
//! in the blocks can be indexed again at any time; tags are only here, in each session's
//! `session.db`; `sessions.db` repeats rounds and tags across sessions, and is alone in knowing
//! phases and exports; `search.db` holds what was said.
#![allow(clippy::disallowed_methods, reason = "the index is an edge: it opens databases")]

mod exports;
mod forget;
mod mend;
mod mirror;
pub(crate) mod open;
mod query;
mod record;
mod rows;
mod schema;
mod search;
mod tags;

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rusqlite::ErrorCode;
use thiserror::Error;

use self::open::Db;
use crate::blocks::{Folder, Root};

pub use self::exports::{Beside, Detail, Export, Numbers};
pub use self::forget::Origin;
pub use self::mend::Fault;
pub use self::search::{Filter, Hit, Snippet, Tagged};

/// What can go wrong with a database.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// What SQLite says of which file.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What it says.
        source: rusqlite::Error,
    },
    /// Others wrote for longer than is waited for.
    #[error("{} is kept busy by another process; try again when that is done", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// A file that is no database, or whose pages don't fit together.
    #[error(
        "{} is damaged ({why}); `brain-guard store check --repair` makes it anew from the blocks",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        why: String,
    },
    /// A schema of a later version of this program.
    #[error(
        "{} is of a newer brain-guard (schema {found}, this one knows {known}); update brain-guard",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// A folder that can't be made, a file that can't be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A name or number that isn't there.
    #[error("{0}")]
    Unknown(String),
}

impl Error {
    fn sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, why: source.to_string() }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            _ => Self::Sqlite { path, source },
        }
    }

    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

pub use sessions::round::Words;

/// How far a session is inscribed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// The file it was read from.
    pub source: PathBuf,
    /// Bytes of it that are in the store.
    pub bytes: u64,
    /// Rows that are.
    pub rows: u64,
    /// Whatever the inscriber needs to go on, as JSON.
    pub state: String,
}

/// All databases of a store. Those that were opened stay open, of the sessions' the last one.
#[derive(Debug)]
pub struct Index {
    root: Root,
    all: RefCell<Option<Rc<Db>>>,
    search: RefCell<Option<Rc<Db>>>,
    own: RefCell<Option<Rc<Db>>>,
}

impl Index {
    /// The index of this store; databases are made as they are needed.
    pub fn new(root: Root) -> Self {
        Self { root, all: RefCell::default(), search: RefCell::default(), own: RefCell::default() }
    }

    /// `sessions.db`, to read; `None` where there is none.
    fn all(&self) -> Result<Option<Rc<Db>>, Error> {
        if let Some(db) = &*self.all.borrow() {
            return Ok(Some(Rc::clone(db)));
        }
        let path = self.root.sessions().join("sessions.db");
        let Some(db) = Db::read(&path, schema::SESSIONS)? else { return Ok(None) };
        self.opened(db).map(Some)
    }

    /// `sessions.db`, to write; made where there is none.
    fn all_made(&self) -> Result<Rc<Db>, Error> {
        if let Some(db) = &*self.all.borrow() {
            return Ok(Rc::clone(db));
        }
        let path = self.root.sessions().join("sessions.db");
        self.opened(Db::make(&path, schema::SESSIONS)?)
    }

    fn opened(&self, db: Db) -> Result<Rc<Db>, Error> {
        match self.heal(&db) {
            // It is told of where something is to be written, or done by whoever comes next.
            Err(Error::Sqlite { source, .. }) if open::unwritable(&source) => {}
            Err(Error::Busy { .. }) => {}
            other => other?,
        }
        let db = Rc::new(db);
        *self.all.borrow_mut() = Some(Rc::clone(&db));
        Ok(db)
    }

    /// `search.db`, to write; made where there is none.
    fn search_made(&self) -> Result<Rc<Db>, Error> {
        made(&self.search, &self.root.sessions().join("search.db"), schema::SEARCH)
    }

    /// A session's database, to write; made where there is none.
    fn own(&self, folder: &Folder) -> Result<Rc<Db>, Error> {
        made(&self.own, &folder.database(), schema::SESSION)
    }
}

fn made(kept: &RefCell<Option<Rc<Db>>>, path: &Path, steps: open::Steps) -> Result<Rc<Db>, Error> {
    if let Some(db) = kept.borrow().as_ref().filter(|db| db.path() == path) {
        return Ok(Rc::clone(db));
    }
    let db = Rc::new(Db::make(path, steps)?);
    *kept.borrow_mut() = Some(Rc::clone(&db));
    Ok(db)
}

#[cfg(test)]
mod tests;
