//! Data that the steps of an extraction pass on.

use super::read::Read;
use extract::plan::Plan;
use extract::when::{Look, Verdict};
use std::path::PathBuf;

use serde::Serialize;

/// Options of a run.
#[derive(Debug, Clone, Default)]
pub struct How {
    /// Write nothing.
    pub dry_run: bool,
    /// Another new session, beside one that is still there.
    pub again: bool,
    /// The client goes on in the new session.
    pub here: bool,
    /// The path of a new session.
    pub out: Option<PathBuf>,
}

/// A session and its plan.
pub struct Planned {
    pub read: Read,
    pub plan: Plan,
    /// How much the plan takes out.
    pub amounts: Amounts,
    /// Facts about the prompt cache.
    pub look: Look,
    /// Whether the prompt cache has expired.
    pub cold: bool,
    /// Whether to extract now.
    pub verdict: Verdict,
}

/// The result of an extraction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Done {
    /// Values moved to the store.
    pub values: u64,
    /// Entries they belong to.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes by which the session file shrank.
    pub freed: u64,
    /// Rows with redacted restore calls.
    pub redacted: u64,
}

/// How much a plan takes out.
#[derive(Debug, Clone, Copy)]
pub struct Amounts {
    /// Bytes of the file.
    pub bytes: u64,
    /// Characters of the context.
    pub saved: u64,
    /// Placeholders that the context gets for them.
    pub placeholders: u64,
    /// Characters of the context from the first change on.
    pub behind: u64,
}
