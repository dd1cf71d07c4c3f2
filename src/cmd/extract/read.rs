//! A session read for the rules: its entries, and the placeholders in it.

use crate::clock::Time;
use crate::extract::entry::Entry;
use crate::store::extracted::Ledger;
use crate::store::sessions::Stamp;
use crate::transcript::span::Span;

use super::source::Source;

/// A placeholder in a session, by its ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    /// Its row, from 0.
    pub row: u64,
    /// Where it lies in the row.
    pub span: Span,
    /// Its entry.
    pub entry: String,
    /// Its key.
    pub key: String,
    /// The object that holds what was there.
    pub object: String,
    /// Bytes of that.
    pub bytes: u64,
    /// Its tool, where it has one.
    pub tool: Option<String>,
    /// `thinking`, `tool_result`, …
    pub trigger: String,
    /// When it was extracted.
    pub at: Time,
}

/// A session as it was read.
pub struct Read {
    /// Its entries.
    pub entries: Vec<Entry>,
    /// The placeholders in it, in order.
    pub live: Vec<Live>,
    /// What was extracted of it, ever.
    pub ledger: Ledger,
    /// The file when it was read.
    pub stamp: Stamp,
    /// When its last row was written, by what that says.
    pub last: Option<Time>,
}

/// Reads a session.
///
/// # Errors
/// What the system says; a ledger that can't be read.
pub fn session(_source: &Source) -> anyhow::Result<Read> {
    todo!()
}
