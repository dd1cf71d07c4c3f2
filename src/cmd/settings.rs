//! `settings show`: what holds, all layers merged. What is wrong and where each key
//! came from is `settings check`.

pub mod check;
mod report;

use anyhow::Context as _;

use super::whose;
use super::{Exit, err, out_json};
use crate::cli::Whose;
use base::env::Env;
use base::paths::Places;
use guard::hook::facts::read_settings;

/// Runs the verb.
///
/// # Errors
/// No home, no current folder.
pub fn show(env: &Env, whose: &Whose) -> anyhow::Result<Exit> {
    let project = whose::project(env, whose)?;
    let places =
        Places::of(env, &project).context("HOME is not set; set it to your home folder")?;
    let (settings, diagnostics) = read_settings(&places, env);
    out_json(&settings)?;
    for d in &diagnostics {
        err(&d.message);
    }
    if diagnostics.is_empty() {
        return Ok(Exit::Done);
    }
    Ok(Exit::Refused)
}
