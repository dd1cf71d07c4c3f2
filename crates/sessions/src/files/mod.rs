//! Session files that extraction edits, behind one interface. A read returns a stamp; an edit
//! replaces the whole file, and only if the stamp still matches.
#![allow(clippy::disallowed_methods, reason = "it owns the session files")]

mod gateway_lock;
pub mod holders;
mod idle;
mod jsonl;
mod kept;

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use thiserror::Error;

pub use jsonl::{Jsonl, unfinished};
pub use kept::{LostPart, kept};

/// Tells one state of a file from the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Bytes; for a database, the session's rows.
    pub size: u64,
    /// Modification time, in nanoseconds since 1970.
    pub modified: i128,
    /// Its inode.
    pub inode: u64,
}

impl Stamp {
    /// The stamp of a file.
    pub fn of(meta: &Metadata) -> Self {
        let seconds = i128::from(meta.mtime());
        let modified = seconds * 1_000_000_000 + i128::from(meta.mtime_nsec());
        Self { size: meta.len(), modified, inode: meta.ino() }
    }
}

/// Why a session was not written; it is unchanged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Refused {
    /// Somebody wrote to it since it was read.
    #[error("{0} was written by another process meanwhile; try again")]
    Changed(String),
    /// A run is in progress, or was a moment ago.
    #[error("{0}")]
    Busy(String),
    /// Another process holds its lock.
    #[error("{0}")]
    Locked(String),
    /// Files of this kind cannot be edited.
    #[error("{0}")]
    Unsupported(String),
    /// An I/O error.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Returns a replacement for a row, given its number, or none.
pub type Change<'a> = &'a mut dyn FnMut(u64, &[u8]) -> io::Result<Option<Vec<u8>>>;

/// A finished edit, and what is left to do.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Edited {
    /// Where rows are that came while the file was replaced, and why they are not in the session.
    pub left: Option<String>,
}

/// A session that can be read, and perhaps edited.
pub trait SessionFile {
    /// Calls `each` with every row and its number from 0; with the line break, if the row has one.
    ///
    /// # Errors
    /// I/O errors.
    fn rows(&self, each: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<Stamp>;

    /// Rewrites the session; `change` returns a replacement for a row, or none. It is called under
    /// the lock, for each row in order; if it fails, the edit fails.
    ///
    /// # Errors
    /// [`Refused`]: nothing was changed.
    fn edit(&self, stamp: Stamp, change: Change<'_>) -> Result<Edited, Refused>;

    /// Finishes an edit that was killed or that a process held up; call it before reading for an
    /// edit. Returns what cannot be finished, and why.
    ///
    /// # Errors
    /// [`Refused`]: the unfinished edit is as it was.
    fn settle(&self) -> Result<Option<String>, Refused> {
        Ok(None)
    }
}

/// Adds the path of the file to an error.
fn with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
