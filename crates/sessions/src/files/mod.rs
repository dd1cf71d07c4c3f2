//! Session files that extraction edits, behind one interface: what is read is known by its
//! stamp, what is written replaces the file whole, and only while that stamp still holds.
#![allow(clippy::disallowed_methods, reason = "it owns the session files")]

mod gateway_lock;
pub mod holders;
mod idle;
mod jsonl;
mod kept;

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use jsonl::{Jsonl, unfinished};
pub use kept::{LostPart, kept};

/// What tells a file from what it becomes when somebody writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Bytes; of a database, its rows of the session.
    pub size: u64,
    /// When it was written, in nanoseconds since 1970.
    pub modified: i128,
    /// Where it lies on the disk.
    pub inode: u64,
}

impl Stamp {
    /// That of a file.
    pub fn of(meta: &Metadata) -> Self {
        let seconds = i128::from(meta.mtime());
        let modified = seconds * 1_000_000_000 + i128::from(meta.mtime_nsec());
        Self { size: meta.len(), modified, inode: meta.ino() }
    }
}

/// Why a session was not written; it is as it was.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Refused {
    /// Somebody wrote it since it was read.
    #[error("{0} was written by another process meanwhile; try again")]
    Changed(String),
    /// A run is under way, or was a moment ago.
    #[error("{0}")]
    Busy(String),
    /// Another process holds its lock.
    #[error("{0}")]
    Locked(String),
    /// Files of this kind are not written.
    #[error("{0}")]
    Unsupported(String),
    /// The system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Gives a row in the place of another, by its number, or none.
pub type Change<'a> = &'a mut dyn FnMut(u64, &[u8]) -> io::Result<Option<Vec<u8>>>;

/// An edit that was made, and what is left of it to be done.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Edited {
    /// Where rows are that came while the file was replaced, and why they are not in it.
    pub left: Option<String>,
}

/// A session that can be read, and perhaps written.
pub trait SessionFile {
    /// Hands on its rows, with their number from 0, each with its line break where it has one.
    ///
    /// # Errors
    /// What the system says.
    fn rows(&self, each: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<Stamp>;

    /// Writes it anew: `change` gives a row in the place of another, or none. It is asked under
    /// the lock, of each row in its order; what it fails with is what the edit fails with.
    ///
    /// # Errors
    /// [`Refused`]: nothing was changed.
    fn edit(&self, stamp: Stamp, change: Change<'_>) -> Result<Edited, Refused>;

    /// Ends an edit that was killed, or that a process kept from ending: best before it is read
    /// to be edited. Gives what can't be ended, and why.
    ///
    /// # Errors
    /// [`Refused`]: what is left to do is as it was.
    fn settle(&self) -> Result<Option<String>, Refused> {
        Ok(None)
    }

    /// Where the last edit left a copy of what was there before, where it leaves one.
    fn copied(&self) -> Option<PathBuf> {
        None
    }
}

/// The same error, with the file it is about.
fn told(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
