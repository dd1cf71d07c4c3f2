//! Decides where a job comes from. A checkout can contain any job, so the state remembers which
//! jobs were created here or accepted by the user. It also remembers how their notes looked when
//! the guard or the agent last wrote them. Files in the project are not trusted for this.
//!
//! A job that the state does not know is *found*. It has no effect until the user accepts it.

mod known_jobs;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::job_files;
use crate::job::{Prompt, Record};
use base::lock::{self, Lock};
use base::paths::{Places, is_safe_name};
use base::{atomic, beneath};

pub use known_jobs::recognize;

/// Where a job comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Created here, and nothing else has written it since.
    Own,
    /// Created here, but something else changed its files: a pull, an editor.
    Changed,
    /// It came with the checkout, and the user accepted it.
    Accepted,
    /// It came with the checkout and is not accepted.
    Found,
}

impl Origin {
    /// Whether the job has an effect: sessions can work on it, and its notes are delivered.
    pub fn has_effect(self) -> bool {
        self != Self::Found
    }

    /// Whether its files count as words of this user and this agent.
    pub fn is_own(self) -> bool {
        self == Self::Own
    }
}

/// The state's record of a job's origin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Known {
    /// It came with a checkout, and the user accepted it.
    accepted: bool,
    /// SHA-256 in hex of its notes and coaching when they were last written.
    digest: Option<String>,
    /// The same digest for a write in progress, because a kill may come before or after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// Whether something else has written them since.
    changed: bool,
    /// The user's first prompt in it.
    first: Option<Prompt>,
    /// The user's last prompt in it.
    last: Option<Prompt>,
}

fn folder(places: &Places) -> PathBuf {
    places.state.join("own")
}

fn path(places: &Places, job: &str) -> PathBuf {
    folder(places).join(format!("{job}.json"))
}

fn load(places: &Places, job: &str) -> Option<Known> {
    let bytes = atomic::read_record(&path(places, job)).ok().flatten()?;
    // A damaged record still counts as known, but changed.
    let damaged = Known { changed: true, ..Known::default() };
    Some(serde_json::from_slice(&bytes).unwrap_or(damaged))
}

/// Where a job comes from. Jobs in a folder trusted by the user's settings count as accepted.
pub fn origin(places: &Places, job: &str) -> Origin {
    known_jobs::prepare(places);
    match load(places, job) {
        None if places.trusted => Origin::Accepted,
        None => Origin::Found,
        Some(Known { accepted: true, .. }) => Origin::Accepted,
        Some(Known { changed: true, .. }) => Origin::Changed,
        Some(_) => Origin::Own,
    }
}

/// Whether a job has no effect: its files exist, but the state does not know it.
pub fn is_found(places: &Places, job: &str) -> bool {
    job_files::exists(places, job) && !origin(places, job).has_effect()
}

/// Changes a job's record under the lock; `None` from `change` writes nothing. The client's sandbox
/// cannot write it, so the hooks do that after the call.
fn update(
    places: &Places,
    job: &str,
    change: impl FnOnce(Option<Known>) -> Option<Known>,
) -> io::Result<()> {
    known_jobs::prepare(places);
    let _held = hold(places)?;
    let before = load(places, job);
    match change(before.clone()) {
        Some(after) if before.as_ref() != Some(&after) => write(places, job, &after),
        _ => Ok(()),
    }
}

fn hold(places: &Places) -> io::Result<Lock> {
    atomic::create_private_dir(&folder(places))?;
    lock::acquire(&folder(places).join(".lock"), Duration::from_millis(500))
}

fn write(places: &Places, job: &str, known: &Known) -> io::Result<()> {
    if !is_safe_name(job) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let bytes = serde_json::to_vec(known).map_err(io::Error::from)?;
    atomic::write_unsynced(&path(places, job), &bytes)
}

/// Records that a job is created here. A known job stays unchanged.
pub fn record_created(places: &Places, job: &str) -> io::Result<()> {
    update(places, job, |known| known.is_none().then(Known::default))
}

/// Accepts a job with its current files, for the user. A job created here becomes its own again.
pub fn accept(places: &Places, job: &str) -> io::Result<()> {
    let digest = digest(places, job);
    update(places, job, |known| {
        let accepted = known.as_ref().is_none_or(|known| known.accepted);
        let known = known.unwrap_or_default();
        Some(Known { accepted, digest, next: None, changed: false, ..known })
    })
}

/// Checks whether something else has written a job's notes since the guard did. Returns `true` only
/// the first time. The change stays recorded until the user accepts the job.
pub fn check_changed(places: &Places, job: &str) -> io::Result<bool> {
    let now = digest(places, job);
    let differs = |known: &Known| {
        let expected = known.digest == now || (known.next.is_some() && known.next == now);
        !expected && !known.changed
    };
    if !load(places, job).is_some_and(|known| differs(&known)) {
        return Ok(false);
    }
    let mut new = false;
    update(places, job, |known| {
        let known = known.filter(differs)?;
        new = true;
        Some(Known { digest: now.clone(), next: None, changed: true, ..known })
    })?;
    Ok(new)
}

/// Records what the guard is about to write: these notes and this record, or the existing ones.
pub fn before_write(
    places: &Places,
    job: &str,
    notes: Option<&[u8]>,
    record: Option<&Record>,
) -> io::Result<()> {
    let next = digest_of(places, job, notes, record);
    update(places, job, |known| {
        let known = known?;
        Some(if known.digest == next { known } else { Known { next, ..known } })
    })
}

/// Records a job's notes as the guard or the agent has just written them.
pub fn after_write(places: &Places, job: &str) -> io::Result<()> {
    update(places, job, |known| Some(Known { digest: digest(places, job), next: None, ..known? }))
}

/// Records a prompt of the user's for the job's deliveries. The prompts in the project are for the
/// agent to read, and anybody may have written them.
pub fn record_prompt(places: &Places, job: &str, prompt: &Prompt) -> io::Result<()> {
    update(places, job, |known| {
        let mut known = known?;
        known.first.get_or_insert_with(|| prompt.clone());
        known.last = Some(prompt.clone());
        Some(known)
    })
}

/// The user's first and last prompt in a job.
pub fn prompts(places: &Places, job: &str) -> Option<(Prompt, Prompt)> {
    let known = load(places, job)?;
    known.first.zip(known.last)
}

/// Moves a job's record to another name.
pub fn rename(places: &Places, from: &str, to: &str) -> io::Result<()> {
    let Some(known) = load(places, from) else { return Ok(()) };
    update(places, to, |there| Some(there.unwrap_or(known)))?;
    atomic::remove(&path(places, from))
}

/// The digest of the notes and of what the agent is told about the job's phase. It leaves out
/// holders and sessions, which change every turn.
fn digest(places: &Places, job: &str) -> Option<String> {
    digest_of(places, job, None, None)
}

fn digest_of(
    places: &Places,
    job: &str,
    notes: Option<&[u8]>,
    record: Option<&Record>,
) -> Option<String> {
    let there = || atomic::read(&places.compaction(job)).ok().flatten();
    let notes = notes.map(<[u8]>::to_vec).or_else(there);
    let record = record.cloned().unwrap_or_else(|| job_files::record(places, job)).into_plain();
    let phase = record.phase.as_ref().map(|phase| (&phase.name, &phase.coach));
    if notes.is_none() && phase.is_none() && record.coaching.is_empty() {
        return None;
    }
    let told = serde_json::to_vec(&(phase, &record.coaching)).unwrap_or_default();
    let mut hash = Sha256::new();
    hash.update(notes.unwrap_or_default());
    hash.update([0]);
    hash.update(told);
    Some(format!("{:x}", hash.finalize()))
}

/// The jobs that the state knows, even without files. A checkout may contain any number of others,
/// and they cost nothing here.
pub fn known_jobs(places: &Places) -> Vec<String> {
    known_jobs::prepare(places);
    let names = beneath::list(&folder(places), usize::MAX).unwrap_or_default();
    let jobs =
        names.into_iter().filter_map(|(name, _)| Some(name.strip_suffix(".json")?.to_owned()));
    jobs.filter(|job| is_safe_name(job)).collect()
}

/// Jobs in the project that have no effect until the user accepts them, by name.
pub fn found(places: &Places) -> Vec<String> {
    let mut found = job_files::on_disk(places);
    found.retain(|job| !origin(places, job).has_effect());
    found
}

/// Whether the guard's folder exists in the project.
pub fn has_jobs(places: &Places) -> bool {
    beneath::is_dir(&places.top().join("jobs"))
}

#[cfg(test)]
mod tests;
