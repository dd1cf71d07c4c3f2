//! `extract status`.

use crate::cmd::Exit;
use crate::env::Env;

/// Runs the verb.
///
/// # Errors
/// What keeps it from being done.
pub fn run(_env: &Env, _json: bool) -> anyhow::Result<Exit> {
    todo!()
}
