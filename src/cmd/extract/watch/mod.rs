//! `extract watch`.

use std::path::PathBuf;

use crate::cmd::Exit;
use crate::env::Env;

/// Runs the verb.
///
/// # Errors
/// What keeps it from being done.
pub fn run(_env: &Env, _paths: &[PathBuf], _once: bool, _json: bool) -> anyhow::Result<Exit> {
    todo!()
}
