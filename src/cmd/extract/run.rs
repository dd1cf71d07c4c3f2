//! `extract plan` and `extract run`.

use std::path::PathBuf;

use crate::cli::ExtractArgs;
use crate::clock::Time;
use crate::cmd::Exit;
use crate::env::Env;

/// How it is run.
#[derive(Debug, Clone, Default)]
pub struct How {
    /// Nothing is done.
    pub dry_run: bool,
    /// A database may be written.
    pub offline: bool,
    /// Where a new session goes.
    pub out: Option<PathBuf>,
}

/// Shows what would be done.
///
/// # Errors
/// A session that can't be read.
pub fn plan(_env: &Env, _now: Time, _args: &ExtractArgs) -> anyhow::Result<Exit> {
    todo!()
}

/// Does it.
///
/// # Errors
/// What keeps it from being done; the session is as it was then.
pub fn run(_env: &Env, _now: Time, _args: &ExtractArgs, _how: &How) -> anyhow::Result<Exit> {
    todo!()
}
