//! The block store: the rows of sessions as they were written, append-only, each addressed by
//! its content. The truth of all that surgery reads; everything in `index` but the tags can be
//! made again from here.
//!
//! `<root>/sessions/<agent>/<session>/blocks/NNNNNN.pack`. A pack is a row of records: a line
//! of JSON (the [`Header`]), then the block's bytes. Blocks of one row follow each other, and
//! all blocks of a session, joined, are its transcript byte for byte.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What is known of a block without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// SHA-256 of its bytes, in hex: the block's id.
    pub id: String,
    /// Its session.
    pub session: String,
    /// Its round, from 1; 0 before the first.
    pub round_seq: u32,
    /// Its row, from 0.
    pub row: u64,
    /// `user`, `assistant`, `system`, or empty.
    pub role: String,
    /// [`crate::transcript::dialect::BlockKind::name`].
    #[serde(rename = "type")]
    pub kind: String,
    /// When its row was written, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Its length in bytes.
    pub bytes: u64,
    /// Where in these its content lies: start and length.
    pub content: (u64, u64),
}

/// Where the sessions are kept: `<data>/brain-guard`, by a setting or the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Root {
    /// The store in this folder; it holds `sessions/`.
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// `<root>/sessions`.
    pub fn sessions(&self) -> PathBuf {
        self.0.join("sessions")
    }

    /// The folder of a session.
    pub fn folder(&self, agent: &str, session: &str) -> Folder {
        let path = self.sessions().join(agent).join(session);
        Folder { agent: agent.to_owned(), session: session.to_owned(), path }
    }

    /// All sessions there are, sorted.
    ///
    /// # Errors
    /// What the system says.
    pub fn all(&self) -> io::Result<Vec<Folder>> {
        todo!()
    }

    /// Sessions whose id begins so, or that are called exactly so.
    ///
    /// # Errors
    /// What the system says.
    pub fn find(&self, id: &str) -> io::Result<Vec<Folder>> {
        let _ = id;
        todo!()
    }
}

/// A session's folder in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Who ran it.
    pub agent: String,
    /// Its id.
    pub session: String,
    /// `<root>/sessions/<agent>/<session>`.
    pub path: PathBuf,
}

impl Folder {
    /// The database of the session.
    pub fn database(&self) -> PathBuf {
        self.path.join("session.db")
    }

    /// Its blocks.
    pub fn blocks(&self) -> PathBuf {
        self.path.join("blocks")
    }
}

/// Rows read from the store, one after the other in one piece of memory.
#[derive(Debug, Default)]
pub struct Rows {
    /// All their bytes, each with its line break.
    pub bytes: Vec<u8>,
    /// Where each ends.
    pub ends: Vec<usize>,
}

impl Rows {
    /// The rows, each with its line break.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(self.ends.iter().copied()).map(|(start, end)| &self.bytes[start..end])
    }
}

/// Reads a session's rows from the store, verified by their ids.
#[derive(Debug)]
pub struct Reader {
    folder: PathBuf,
}

impl Reader {
    /// Opens the blocks of a session.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(folder: &Folder) -> io::Result<Self> {
        Ok(Self { folder: folder.blocks() })
    }

    /// The rows of the round `seq` that begins at `position` ([`crate::transcript::round::Round::position`]),
    /// into `rows`, which is emptied first.
    ///
    /// # Errors
    /// What the system says; `InvalidData` where a block is not what its id says.
    pub fn round(&mut self, position: u64, seq: u32, rows: &mut Rows) -> io::Result<()> {
        let _ = (&self.folder, position, seq, rows);
        todo!()
    }

    /// Writes the transcript as it was, all of it.
    ///
    /// # Errors
    /// As [`Reader::round`].
    pub fn original(&mut self, to: &mut dyn io::Write) -> io::Result<u64> {
        let _ = to;
        todo!()
    }
}

/// A path of the store that tests and messages name.
pub fn shown(path: &Path) -> String {
    path.display().to_string()
}
