//! `advise`: which surgery would be worth it in a session.

use super::Exit;
use crate::clock::Time;
use crate::env::Env;

/// Runs the verb.
///
/// # Errors
/// No such session.
pub fn run(_env: &Env, _now: Time, _session: Option<&str>, _json: bool) -> anyhow::Result<Exit> {
    anyhow::bail!("not built yet")
}
