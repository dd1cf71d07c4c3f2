//! What the steps of an extraction hand on.

use super::read::Read;
use extract::plan::Plan;
use extract::when::{Look, Verdict};
use std::path::PathBuf;

use serde::Serialize;

/// How it is run.
#[derive(Debug, Clone, Default)]
pub struct How {
    /// Nothing is done.
    pub dry_run: bool,
    /// A database may be written.
    pub offline: bool,
    /// Where a new session goes.
    pub out: Option<PathBuf>,
}

/// A session with what would be extracted of it.
pub struct Planned {
    /// What was read.
    pub read: Read,
    /// What would be done.
    pub plan: Plan,
    /// What it takes out.
    pub amounts: Amounts,
    /// What is known of the prompt cache.
    pub look: Look,
    /// Whether the prompt cache has expired.
    pub cold: bool,
    /// Whether it pays.
    pub verdict: Verdict,
}

/// What an extraction came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Done {
    /// Values that went into the store.
    pub values: u64,
    /// Entries that they are of.
    pub entries: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Bytes by which the session got shorter.
    pub freed: u64,
    /// Rows in which calls were redacted that had asked for a restore.
    pub redacted: u64,
}

/// What a plan takes out.
#[derive(Debug, Clone, Copy)]
pub struct Amounts {
    /// Bytes of the file.
    pub bytes: u64,
    /// Characters of the context.
    pub saved: u64,
    /// Characters of what lies behind the first of these in the context, with them.
    pub behind: u64,
}
