//! What was extracted: objects by the SHA-256 of their content, and a ledger a session that
//! says which value each came from and what was put there. Both are on the disk before a
//! session is touched.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::clock::Time;
use crate::store::blocks::Root;

/// A line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "kebab-case")]
pub enum Record {
    /// A value went into the store.
    Extract {
        /// Its entry.
        entry: String,
        /// Its key.
        key: String,
        /// SHA-256 of its raw JSON, in hex: the object.
        object: String,
        /// Bytes of it.
        bytes: u64,
        /// SHA-256 of the raw JSON that was put in its place.
        placeholder: String,
        /// Its tool, where it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// `thinking`, `tool_result`, …
        trigger: String,
        /// When.
        at: Time,
        /// The session's file.
        file: PathBuf,
    },
    /// Values came back.
    Restore {
        /// Their entry.
        entry: String,
        /// Their keys.
        keys: Vec<String>,
        /// When.
        at: Time,
        /// The call that asked was redacted.
        redacted: bool,
    },
}

/// The extracted content of a session.
#[derive(Debug, Clone)]
pub struct Extracted {
    /// `<root>/extracted`.
    pub root: PathBuf,
    /// `<root>/extracted/sessions/<agent>/<session>`.
    pub folder: PathBuf,
}

impl Extracted {
    /// That of a session; nothing is made.
    pub fn of(_root: &Root, _agent: &str, _session: &str) -> Self {
        todo!()
    }

    /// Keeps content: written, synced and read back; what is there already is verified. Gives
    /// its id.
    ///
    /// # Errors
    /// What the system says.
    pub fn put(&self, _content: &[u8]) -> io::Result<String> {
        todo!()
    }

    /// Content by its id, verified.
    ///
    /// # Errors
    /// `NotFound`; `InvalidData` where it is not what its id says.
    pub fn get(&self, _id: &str) -> io::Result<Vec<u8>> {
        todo!()
    }

    /// Adds to the ledger, synced.
    ///
    /// # Errors
    /// What the system says.
    pub fn add(&self, _records: &[Record]) -> io::Result<()> {
        todo!()
    }

    /// The ledger; a torn last line is passed over.
    ///
    /// # Errors
    /// What the system says; `InvalidData`, by line, for what is no record.
    pub fn ledger(&self) -> io::Result<Ledger> {
        todo!()
    }
}

/// What a ledger says of each value.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// In their order.
    pub records: Vec<Record>,
}

impl Ledger {
    /// The extraction that put this JSON at (entry, key), where one did: then it is a placeholder.
    pub fn placeholder(&self, _entry: &str, _key: &str, _json: &[u8]) -> Option<&Record> {
        todo!()
    }

    /// When an entry was restored last.
    pub fn restored(&self, _entry: &str) -> Option<Time> {
        todo!()
    }
}

/// What `gc` found and removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Objects that stay, and their bytes.
    pub kept: (u64, u64),
    /// Objects that went, or would.
    pub gone: (u64, u64),
    /// Session files that could not be read: what they may need stays.
    pub unread: Vec<PathBuf>,
}

/// All sessions that have a ledger, sorted by agent and id.
///
/// # Errors
/// What the system says.
pub fn all(_root: &Root) -> io::Result<Vec<Extracted>> {
    todo!()
}

/// What ran when (`<root>/extracted/state.json`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// When watching looked last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_run_at: Option<Time>,
    /// When content was swept last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_retention_run_at: Option<Time>,
}

impl State {
    /// As it is kept; one that can't be read is none.
    pub fn read(_root: &Root) -> Self {
        todo!()
    }

    /// Keeps it.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self, _root: &Root) -> io::Result<()> {
        todo!()
    }
}

/// Removes objects that no live placeholder needs and that are older than `older`. `live` is
/// asked of every session file that a ledger names which of its objects the file needs: `None`
/// where it can't be read, an empty list where it is gone.
///
/// # Errors
/// What the system says.
pub fn sweep(
    _root: &Root,
    _older: Time,
    _live: &mut dyn FnMut(&Path, &Ledger) -> Option<Vec<String>>,
    _dry_run: bool,
) -> io::Result<Swept> {
    todo!()
}
