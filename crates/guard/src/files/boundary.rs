//! Boundary tokens on disk, one file each, changed under a lock. Also the start times of a job's
//! boundaries, for the budget.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::journal::Journal;
use crate::boundary::Token;
use crate::journal::{BoundaryStep, What};
use base::atomic;
use base::clock::Time;
use base::lock;
use base::paths::Places;

/// Reads a token.
///
/// # Errors
/// What the system or the parser says.
pub fn load(places: &Places, id: &str) -> io::Result<Option<Token>> {
    let Some(bytes) = atomic::read_record(&places.token(id))? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(io::Error::from)
}

/// The tokens of a project.
pub fn all(places: &Places) -> Vec<Token> {
    let entries = fs::read_dir(places.state.join("boundary")).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let tokens = paths.filter(|path| path.extension().is_some_and(|end| end == "json"));
    tokens.filter_map(|path| load(places, path.file_stem()?.to_str()?).ok().flatten()).collect()
}

/// Writes a new token, before the first action of its boundary.
pub fn create(places: &Places, token: &Token) -> io::Result<()> {
    places.ensure_state()?;
    atomic::write(&places.token(&token.id), &serde_json::to_vec(token).map_err(io::Error::from)?)?;
    account(places, token);
    Ok(())
}

/// Writes the token's step to the journal of its session, no matter who changed it.
fn account(places: &Places, token: &Token) {
    let session = token.child.as_deref().unwrap_or(&token.parent);
    let step = What::Boundary(BoundaryStep::from(token));
    Journal::of_session(places, session).record(places, token.since, step);
}

/// Changes a token under its lock; `None` if it does not exist. Fails while another process holds
/// the lock.
pub fn update<T>(
    places: &Places,
    id: &str,
    change: impl FnOnce(&mut Token) -> T,
) -> io::Result<Option<T>> {
    let _held = lock::acquire(&places.token(id).with_extension("lock"), Duration::from_secs(1))?;
    let Some(mut token) = load(places, id)? else { return Ok(None) };
    let before = token.clone();
    let result = change(&mut token);
    if token != before {
        let bytes = serde_json::to_vec(&token).map_err(io::Error::from)?;
        atomic::write(&places.token(id), &bytes)?;
    }
    if token.step != before.step {
        account(places, &token);
    }
    Ok(Some(result))
}

/// Whether this process is the one that tells the agent how the boundary failed.
pub fn claim_failure(places: &Places, token: &Token) -> bool {
    atomic::claim(&places.token(&token.id).with_extension("go-on")).unwrap_or(false)
}

fn times_path(places: &Places, job: &str) -> PathBuf {
    places.job(job).join("boundaries")
}

/// Records that a boundary of the job began.
pub fn record(places: &Places, job: &str, at: Time) -> io::Result<()> {
    places.ensure_job(job)?;
    atomic::append(&times_path(places, job), format!("{}\n", at.to_rfc3339()).as_bytes())
}

/// When boundaries of the job began.
pub fn times(places: &Places, job: &str) -> Vec<Time> {
    let text = atomic::read_text(&times_path(places, job)).ok().flatten().unwrap_or_default();
    text.lines().filter_map(|l| l.parse().ok()).collect()
}
