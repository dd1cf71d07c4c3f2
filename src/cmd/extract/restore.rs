//! `extract restore`.

use crate::clock::Time;
use crate::cmd::Exit;
use crate::env::Env;
use crate::extract::restore::Answer;

/// What came back of an entry, to be told at the tail of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// What the seed answers.
    pub answer: Answer,
    /// The texts, by their keys: a string without its quotes, other JSON as it is.
    pub texts: Vec<(String, String)>,
}

/// Restores an entry as output: the session stays as it is, the ledger says that it was asked
/// for.
///
/// # Errors
/// As [`run`].
pub fn as_output(
    _env: &Env,
    _now: Time,
    _session: &str,
    _entry: &str,
    _keys: &[String],
) -> anyhow::Result<Restored> {
    todo!()
}

/// How it is restored.
#[derive(Debug, Clone, Copy, Default)]
pub struct How {
    /// Into the session's file.
    pub in_place: bool,
    /// Without a mark.
    pub unmarked: bool,
    /// A database may be written.
    pub offline: bool,
    /// For programs.
    pub json: bool,
}

/// Restores.
///
/// # Errors
/// An entry or key that is not there, content that is damaged, a file that can't be written:
/// nothing is changed then.
pub fn run(
    _env: &Env,
    _now: Time,
    _session: &str,
    _entry: &str,
    _keys: &[String],
    _how: How,
) -> anyhow::Result<Exit> {
    todo!()
}
