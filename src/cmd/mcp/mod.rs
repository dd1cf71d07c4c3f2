//! `mcp`: `purge_control`, `inject` and `search` as tools, on stdin and stdout.

use crate::cmd::Exit;
use crate::env::Env;

/// Serves until stdin ends.
///
/// # Errors
/// What the system says.
pub fn run(_env: &Env) -> anyhow::Result<Exit> {
    todo!()
}
