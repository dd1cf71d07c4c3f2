//! What a session's name means: a file of pi, `OpenClaw` or Claude Code, or a session in an
//! `OpenClaw` database.

use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::settings::ExtractSettings;
use crate::store::blocks::Root;
use crate::store::extracted::{Extracted, Ledger};
use crate::store::sessions::SessionFile;

/// Whose session it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
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

impl Source {
    /// As [`open`] takes it again: the file; of a database, `FILE:ID`.
    pub fn place(&self) -> PathBuf {
        todo!()
    }
}

/// The user's settings of extraction.
pub fn settings(_env: &Env) -> ExtractSettings {
    todo!()
}

/// The session of that name: a file, an id or how one begins, `FILE:ID` of a database. With
/// `offline`, a database may be written.
///
/// # Errors
/// None, or several; a file that is no session.
pub fn find(_env: &Env, _root: &Root, _name: &str, _offline: bool) -> anyhow::Result<Source> {
    todo!()
}

/// The session in a file, or at `FILE:ID`.
///
/// # Errors
/// A file that can't be read, or is no session.
pub fn open(_root: &Root, _place: &Path, _offline: bool) -> anyhow::Result<Source> {
    todo!()
}

/// The objects that the placeholders of the session at `place` need, as [`sweep`] asks: none
/// where it can't be read, an empty list where it is gone.
///
/// [`sweep`]: crate::store::extracted::sweep
pub fn needs(_root: &Root, _place: &Path, _ledger: &Ledger) -> Option<Vec<String>> {
    todo!()
}
