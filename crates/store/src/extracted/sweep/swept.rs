//! The result of a sweep.

use std::path::PathBuf;

use serde::Serialize;

/// A number of things, and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Amount {
    /// How many.
    pub count: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Amount {
    /// Adds to it.
    pub fn add(&mut self, count: u64, bytes: u64) {
        self.count += count;
        self.bytes += bytes;
    }
}

/// What a sweep found and removed, or would remove.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Objects that stay.
    pub kept: Amount,
    /// Bytes of whole packs that no ledger names, after a lost ledger or a killed run. They are
    /// part of [`Swept::kept`].
    pub unnamed: u64,
    /// Kept objects that nothing needs, but whose retention has not ended.
    pub waiting: Amount,
    /// Objects that were removed, or would be.
    pub gone: Amount,
    /// Sessions, as `agent/id`, whose content was removed, or would be.
    pub sessions: Vec<String>,
    /// Sessions whose files are gone and whose content stays: the files may have moved.
    pub missing: Vec<String>,
    /// What could not be read; what it may need stays. An unreadable ledger or ledger folder keeps
    /// everything.
    pub unread: Vec<PathBuf>,
    /// Sessions, as `agent/id`, whose ledger was removed, or would be: their files and all their
    /// extracted content are gone.
    pub forgotten: Vec<String>,
}
