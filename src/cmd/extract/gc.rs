//! `extract gc`.

use crate::clock::Time;
use crate::cmd::Exit;
use crate::env::Env;

/// Runs the verb.
///
/// # Errors
/// What keeps it from being done.
pub fn run(_env: &Env, _now: Time, _dry_run: bool, _json: bool) -> anyhow::Result<Exit> {
    todo!()
}
