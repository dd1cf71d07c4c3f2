//! `extract restore`.

use crate::clock::Time;
use crate::cmd::Exit;
use crate::env::Env;

/// How it is restored.
#[derive(Debug, Clone, Copy, Default)]
pub struct How {
    /// Into the session's file.
    pub in_place: bool,
    /// Without a mark.
    pub unmarked: bool,
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
