//! What a session's name means: a file of pi, `OpenClaw` or Claude Code, or a session in an
//! `OpenClaw` database.

use std::path::PathBuf;

use crate::env::Env;
use crate::store::blocks::Root;
use crate::store::extracted::Extracted;
use crate::store::sessions::SessionFile;

/// Whose session it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// JSONL of pi, or of `OpenClaw` up to 2026.7.1.
    Jsonl,
    /// A database of `OpenClaw` from 2026.7.2 on.
    Database,
    /// Claude Code's: never written.
    Claude,
}

/// A session that was found.
pub struct Source {
    /// Whose it is.
    pub kind: Kind,
    /// Its agent, as the store calls it.
    pub agent: String,
    /// Its id.
    pub session: String,
    /// Its file.
    pub path: PathBuf,
    /// Its rows.
    pub file: Box<dyn SessionFile>,
    /// What was extracted of it.
    pub extracted: Extracted,
}

/// The session of that name.
///
/// # Errors
/// None, or several; a file that is no session.
pub fn find(_env: &Env, _root: &Root, _name: &str) -> anyhow::Result<Source> {
    todo!()
}
