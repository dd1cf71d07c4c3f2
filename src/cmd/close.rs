//! `close`: marks an entry of the compaction file as done.

use anyhow::Context as _;

use super::whose;
use super::{Exit, err, out};
use crate::cli::Whose;
use crate::clock::Time;
use crate::compaction;
use crate::env::Env;
use crate::store::{atomic, jobs};

/// Runs the verb.
///
/// # Errors
/// No session, or what the system says of the file.
pub fn run(env: &Env, now: Time, whose: &Whose, id: &str) -> anyhow::Result<Exit> {
    let found = whose::find(env, whose)?;
    let facts = whose::facts(env, now, &found)?;
    let job = whose::job(&facts);
    let path = facts.places.compaction(&job);
    if !path.exists() {
        err(format_args!(
            "the job {job} has no compaction file yet; `brain-guard append` makes one"
        ));
        return Ok(Exit::Refused);
    }
    let _held = jobs::lock(&facts.places, &job)?;
    let before = jobs::read(&facts.places, &job)?.unwrap_or_default();
    match compaction::close(&before, &facts.settings.file.shape, id) {
        Ok(after) => {
            atomic::write(&path, after.as_bytes())
                .with_context(|| format!("could not write {}", path.display()))?;
            out(format_args!("closed {id} in {}", path.display()));
            Ok(Exit::Done)
        }
        Err(e) => {
            err(format_args!("{}: {e}", path.display()));
            Ok(Exit::Refused)
        }
    }
}
