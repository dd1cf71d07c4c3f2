//! `extract set-extractable`.

use serde::Serialize;

use crate::cmd::Exit;
use crate::env::Env;
use crate::extract::entry::Extractable;

/// What an entry says of itself now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The entry.
    pub entry_id: String,
    /// true, false, a number of messages, or null.
    pub extractable: serde_json::Value,
}

/// Says of an entry whether it may be extracted; `None` takes back what was said.
///
/// # Errors
/// An entry that is not there; a file that can't be written.
pub fn set(
    _env: &Env,
    _session: &str,
    _entry: &str,
    _value: Option<Extractable>,
) -> anyhow::Result<Answer> {
    todo!()
}

/// Runs the verb.
///
/// # Errors
/// What keeps it from being done.
pub fn run(
    _env: &Env,
    _session: &str,
    _entry: &str,
    _value: &str,
    _offline: bool,
    _json: bool,
) -> anyhow::Result<Exit> {
    todo!()
}
