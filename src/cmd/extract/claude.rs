//! Extraction from Claude Code's sessions: into a new session, by surgery's exporter.

use super::run::How;
use crate::cli::ExtractArgs;
use crate::clock::Time;
use crate::cmd::Exit;
use crate::env::Env;
use crate::settings::ExtractSettings;

/// Makes a new session without what the settings extract.
///
/// # Errors
/// A session that can't be read; what keeps the new one from being made.
pub fn run(
    _: &Env,
    _: Time,
    args: &ExtractArgs,
    _: &ExtractSettings,
    _: &How,
) -> anyhow::Result<Exit> {
    anyhow::bail!("{} is a session of Claude Code: it is never changed", args.session)
}
