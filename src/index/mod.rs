//! The index over the store: rounds, tags, search (SQLite with FTS5, write-ahead log). What is
//! in the blocks can be indexed again at any time; tags are only here, in each session's
//! `session.db`; `sessions.db` and `search.db` repeat them across sessions.

use std::path::PathBuf;

use thiserror::Error;

use crate::store::blocks::{Folder, Root};
use crate::transcript::round::{Round, Session};

/// What can go wrong with a database.
#[derive(Debug, Error)]
pub enum Error {
    /// What SQLite says of which file.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What it says.
        source: rusqlite::Error,
    },
    /// A folder that can't be made, a file that can't be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A name or number that isn't there.
    #[error("{0}")]
    Unknown(String),
}

/// The words of a round, for the search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Words {
    /// What the user said.
    pub user: String,
    /// What the agent said.
    pub agent: String,
}

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

/// All databases of a store.
#[derive(Debug)]
pub struct Index {
    root: Root,
}

impl Index {
    /// The index of this store; databases are made as they are needed.
    pub fn new(root: Root) -> Self {
        Self { root }
    }

    /// How far a session is inscribed; `None` where it is not.
    ///
    /// # Errors
    /// [`Error`].
    pub fn progress(&self, folder: &Folder) -> Result<Option<Progress>, Error> {
        let _ = (&self.root, folder);
        todo!()
    }

    /// Records rounds, new ones and such as have grown, of `session` (its own `rounds` are not
    /// looked at), in all three databases; tags of known rounds stay. New rounds are tagged
    /// `engagement`, where there is one.
    ///
    /// # Errors
    /// [`Error`].
    pub fn record(
        &self,
        folder: &Folder,
        session: &Session,
        rounds: &[(Round, Words)],
        progress: &Progress,
        engagement: Option<&str>,
    ) -> Result<(), Error> {
        let _ = (folder, session, rounds, progress, engagement);
        todo!()
    }

    /// A session with all its rounds and their tags.
    ///
    /// # Errors
    /// [`Error::Unknown`] where it is not inscribed.
    pub fn session(&self, folder: &Folder) -> Result<Session, Error> {
        let _ = folder;
        todo!()
    }

    /// Tags rounds, or takes their tag away. Returns how many changed.
    ///
    /// # Errors
    /// [`Error::Unknown`] names the rounds that are not there; then nothing was changed.
    pub fn tag(&self, folder: &Folder, rounds: &[u32], engagement: Option<&str>) -> Result<usize, Error> {
        let _ = (folder, rounds, engagement);
        todo!()
    }

    /// Rounds whose words hold what `query` asks for, best first.
    ///
    /// # Errors
    /// [`Error`].
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<Hit>, Error> {
        let _ = (query, limit);
        todo!()
    }

    /// All rounds of an engagement across sessions, by time.
    ///
    /// # Errors
    /// [`Error`].
    pub fn engagement(&self, id: &str) -> Result<Vec<(Session, Round)>, Error> {
        let _ = id;
        todo!()
    }
}

/// A round that was found.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Hit {
    /// Its session.
    pub session: String,
    /// Who ran it.
    pub agent: String,
    /// Its number.
    pub seq: u32,
    /// Its time.
    pub started: Option<crate::clock::Time>,
    /// Its engagement.
    pub engagement: Option<String>,
    /// What was found, with its surroundings; the words between `[` and `]`.
    pub snippet: String,
}
