//! The index over the store: rounds, tags, search (SQLite with FTS5, write-ahead log). Blocks can
//! be indexed again at any time. Only each session's `session.db` has its tags. `sessions.db`
//! copies rounds and tags across sessions, and alone has phases and exports. `search.db` has the
//! search text.
#![allow(clippy::disallowed_methods, reason = "the index is an edge: it opens databases")]

mod copies;
mod exports;
mod figures;
mod forget;
mod inherit;
mod mirror;
mod query;
mod record;
mod repair;
mod rows;
mod schema;
mod search;
mod tags;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::blocks::{Folder, Root};
use crate::database::{self, Db, Schema};

pub use self::copies::Copied;
pub use self::exports::{Beside, Detail, Export, Numbers};
pub use self::figures::Figures;
pub use self::forget::Imported;
pub use self::repair::Fault;
pub use self::search::{Filter, Hit, Snippet, Tagged};
pub use crate::database::Error;

pub use sessions::round::Words;

/// How much of a session is imported.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// The file it was read from.
    pub source: PathBuf,
    /// Bytes of it that are in the store.
    pub bytes: u64,
    /// Rows of it that are in the store.
    pub rows: u64,
    /// What the next import needs to continue, as JSON.
    pub state: String,
}

/// All databases of a store. Opened ones stay open; of the session databases, only the last one.
#[derive(Debug)]
pub struct Index {
    root: Root,
    all: RefCell<Option<Rc<Db>>>,
    search: RefCell<Option<Rc<Db>>>,
    own: RefCell<Option<Rc<Db>>>,
}

impl Index {
    /// The index of this store; databases are created when needed.
    pub fn new(root: Root) -> Self {
        Self { root, all: RefCell::default(), search: RefCell::default(), own: RefCell::default() }
    }

    /// Opens `sessions.db` to read; `None` if there is none.
    fn all(&self) -> Result<Option<Rc<Db>>, Error> {
        if let Some(db) = &*self.all.borrow() {
            return Ok(Some(Rc::clone(db)));
        }
        let path = self.root.sessions().join("sessions.db");
        let Some(db) = Db::read(&path, schema::SESSIONS)? else { return Ok(None) };
        self.opened(db).map(Some)
    }

    /// Opens `sessions.db` to write; creates it if needed.
    fn make_sessions_db(&self) -> Result<Rc<Db>, Error> {
        if let Some(db) = &*self.all.borrow() {
            return Ok(Rc::clone(db));
        }
        let path = self.root.sessions().join("sessions.db");
        self.opened(Db::make(&path, schema::SESSIONS)?)
    }

    fn opened(&self, db: Db) -> Result<Rc<Db>, Error> {
        match self.heal(&db) {
            // Reported at the next write, or done by the next process.
            Err(Error::Sqlite { source, .. }) if database::unwritable(&source) => {}
            Err(Error::Busy { .. }) => {}
            other => other?,
        }
        let db = Rc::new(db);
        *self.all.borrow_mut() = Some(Rc::clone(&db));
        Ok(db)
    }

    /// Opens `search.db` to write; creates it if needed.
    fn search_made(&self) -> Result<Rc<Db>, Error> {
        made(&self.search, &self.root.sessions().join("search.db"), schema::SEARCH)
    }

    /// Opens a session's database to write; creates it if needed.
    fn own(&self, folder: &Folder) -> Result<Rc<Db>, Error> {
        made(&self.own, &folder.database(), schema::SESSION)
    }
}

fn made(kept: &RefCell<Option<Rc<Db>>>, path: &Path, schema: Schema) -> Result<Rc<Db>, Error> {
    if let Some(db) = kept.borrow().as_ref().filter(|db| db.path() == path) {
        return Ok(Rc::clone(db));
    }
    let db = Rc::new(Db::make(path, schema)?);
    *kept.borrow_mut() = Some(Rc::clone(&db));
    Ok(db)
}

#[cfg(test)]
mod tests;
