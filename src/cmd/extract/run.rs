//! `extract plan` and `extract run`.

use std::path::PathBuf;

use serde::Serialize;

use super::read::Read;
use super::source::Source;
use crate::cli::ExtractArgs;
use crate::clock::Time;
use crate::cmd::Exit;
use crate::env::Env;
use crate::extract::plan::Plan;
use crate::extract::when::{Look, Verdict};
use crate::settings::ExtractSettings;

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

/// A session with what would be extracted of it.
pub struct Planned {
    /// What was read.
    pub read: Read,
    /// What would be done.
    pub plan: Plan,
    /// What is known of the prompt cache.
    pub look: Look,
    /// Whether it pays.
    pub verdict: Verdict,
}

/// What an extraction came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Done {
    /// Values that went into the store.
    pub values: u64,
    /// Entries that they are of.
    pub entries: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Bytes by which the session got shorter.
    pub freed: u64,
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

/// Reads a session and plans.
///
/// # Errors
/// A session that can't be read.
pub fn planned(
    _source: &Source,
    _settings: &ExtractSettings,
    _now: Time,
) -> anyhow::Result<Planned> {
    todo!()
}

/// Extracts what was planned: into the store, then out of the session.
///
/// # Errors
/// A [`Refused`](crate::store::sessions::Refused), to be downcast to: nothing was changed.
pub fn execute(
    _source: &Source,
    _settings: &ExtractSettings,
    _now: Time,
    _planned: &Planned,
) -> anyhow::Result<Done> {
    todo!()
}
