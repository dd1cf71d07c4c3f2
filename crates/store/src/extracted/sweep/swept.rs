//! What a sweep came to.

use std::path::PathBuf;

use serde::Serialize;

/// How many there are of something, and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Amount {
    /// How many.
    pub count: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Amount {
    /// More of it.
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
    /// Bytes of whole packs that no ledger names: a ledger may be lost, or a run was killed. Among
    /// those of [`Swept::kept`].
    pub unnamed: u64,
    /// Those among them that nothing needs, and that wait for their retention to end.
    pub waiting: Amount,
    /// Objects that went, or would.
    pub gone: Amount,
    /// Sessions, as `agent/id`, whose content went, or would.
    pub sessions: Vec<String>,
    /// Sessions whose files are gone and whose content stays: the files may have moved.
    pub missing: Vec<String>,
    /// Copies of OpenClaw's databases that went, or would: who sweeps sees to them.
    pub copies: Amount,
    /// What could not be read: what it may need stays. A ledger, or a folder of them, keeps
    /// everything.
    pub unread: Vec<PathBuf>,
    /// Sessions, as `agent/id`, whose ledger went, or would: their files are gone, and so is all
    /// that was extracted of them.
    pub forgotten: Vec<String>,
}
