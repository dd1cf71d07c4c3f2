//! A job's files: the compaction file, its sealed versions, its record.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::atomic;
use super::lock::{self, Lock};
use super::paths::{Places, safe_name};
use super::state;
use crate::clock::Time;
use crate::compaction::{self, Document};
use crate::job::{Holder, Record, default_name};
use crate::seal::Sealed;
use crate::settings::Settings;

/// Gives a session its default job: the first number of the day nobody has.
///
/// # Errors
/// What the system says.
pub fn claim_default(places: &Places, date: &str) -> io::Result<String> {
    places.ensure_state()?;
    let project = places.project.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for number in 1..10_000 {
        let name = default_name(&project, date, number);
        if !places.job(&name).exists() && atomic::claim(&places.state.join("claims").join(&name))? {
            return Ok(name);
        }
    }
    Err(io::Error::other("no free default job"))
}

/// Holds the job's lock; it lies in the job's folder, which is made if need be.
///
/// # Errors
/// `WouldBlock` when another process keeps it for two seconds; what the system says.
pub fn lock(places: &Places, job: &str) -> io::Result<Lock> {
    let dir = places.ensure_job(job)?;
    lock::acquire(&dir.join(".lock"), Duration::from_secs(2))
}

/// The compaction file's text; `None` where there is none yet.
///
/// # Errors
/// What the system says.
pub fn read(places: &Places, job: &str) -> io::Result<Option<String>> {
    atomic::read_text(&places.compaction(job))
}

/// The compaction file's text, made from the template where there is none.
/// The caller holds the job's lock.
///
/// # Errors
/// What the system says.
pub fn read_or_create(
    places: &Places,
    job: &str,
    settings: &Settings,
    template: &str,
    now: Time,
) -> io::Result<String> {
    if let Some(text) = read(places, job)? {
        return Ok(text);
    }
    let text = compaction::template(template, &settings.file.shape, job, now);
    atomic::write(&places.compaction(job), text.as_bytes())?;
    Ok(text)
}

fn record_path(places: &Places, job: &str) -> PathBuf {
    places.job(job).join("job.json")
}

/// A job's record; the default where there is none. One that can't be read is
/// begun anew: what counts of a job is its file.
pub fn record(places: &Places, job: &str) -> Record {
    let bytes = atomic::read(&record_path(places, job)).ok().flatten();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Changes a job's record and hands on what `change` returns; nothing is written if
/// nothing changed. The caller holds the job's lock.
///
/// # Errors
/// What the system says.
pub fn change_record<T>(
    places: &Places,
    job: &str,
    change: impl FnOnce(&mut Record) -> T,
) -> io::Result<T> {
    let before = record(places, job);
    let mut after = before.clone();
    let result = change(&mut after);
    if after != before {
        let bytes = serde_json::to_vec_pretty(&after).map_err(io::Error::from)?;
        atomic::write(&record_path(places, job), &bytes)?;
    }
    Ok(result)
}

/// The session that works on a job now, if its client lives and is still in it.
pub fn holder(places: &Places, job: &str) -> Option<Holder> {
    record(places, job).holder.filter(|holder| {
        let Some(client) = holder.client else { return false };
        if state::client(client.pid) != Some(client) {
            return false;
        }
        let Some(seated) = state::seat(places, client.pid) else { return false };
        let works_on = |id: &str| state::load(places, id).ok().flatten().map(|s| s.job);
        // Right after a focus the hooks have not written down the session's new job.
        seated == holder.session || works_on(&seated).as_deref() == Some(job)
    })
}

/// The jobs that have a folder, by name.
pub fn all(places: &Places) -> Vec<String> {
    let mut names: Vec<String> =
        [places.project.join(".brain-guard/jobs"), places.state.join("jobs")]
            .iter()
            .filter_map(|dir| fs::read_dir(dir).ok())
            .flat_map(Iterator::flatten)
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| safe_name(name))
            .collect();
    names.sort();
    names.dedup();
    names
}

fn sealed_dir(places: &Places, job: &str) -> PathBuf {
    places.job(job).join("sealed")
}

/// The path of a sealed version.
pub fn sealed_path(places: &Places, job: &str, version: u64) -> PathBuf {
    sealed_dir(places, job).join(format!("v{version:04}.md"))
}

/// The highest version that was ever sealed, here or in the mirror.
pub fn last_version(places: &Places, job: &str) -> u64 {
    [sealed_dir(places, job), places.state.join("sealed").join(job)]
        .iter()
        .filter_map(|dir| fs::read_dir(dir).ok())
        .flat_map(Iterator::flatten)
        .filter_map(|entry| {
            let name = entry.file_name();
            let digits = name.to_str()?.strip_prefix('v')?.split('.').next()?;
            digits.parse().ok()
        })
        .max()
        .unwrap_or(0)
}

/// Writes a seal's result: the archive first, the live file last, so that a kill
/// in between leaves the file as it was with nothing lost.
/// The caller holds the job's lock.
///
/// # Errors
/// What the system says; the live file is untouched then.
pub fn write_sealed(
    places: &Places,
    job: &str,
    source: &str,
    sealed: &Sealed,
) -> io::Result<PathBuf> {
    let dir = sealed_dir(places, job);
    fs::create_dir_all(&dir)?;
    let path = sealed_path(places, job, sealed.report.version);
    atomic::write(&path.with_extension("raw.md"), source.as_bytes())?;
    if !sealed.removed_markdown.is_empty() {
        atomic::write(&path.with_extension("removed.md"), sealed.removed_markdown.as_bytes())?;
    }
    atomic::write(&path, sealed.text.as_bytes())?;
    atomic::write(&places.compaction(job), sealed.text.as_bytes())?;
    Ok(path)
}

/// Copies a job's sealed versions into the state: `git clean -fdx` in the
/// project must not cost a memory.
///
/// # Errors
/// What the system says.
pub fn mirror(places: &Places, job: &str) -> io::Result<()> {
    let from = sealed_dir(places, job);
    let to = places.state.join("sealed").join(job);
    atomic::create_private_dir(&to)?;
    for entry in fs::read_dir(&from)?.flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        if Path::new(&name).extension().is_some_and(|e| e == "md") && !to.join(&name).exists() {
            atomic::write_unsynced(&to.join(&name), &atomic::read(&path)?.unwrap_or_default())?;
        }
    }
    Ok(())
}

/// Ids of the entries in the sections a session writes.
pub fn authored_ids(document: &Document) -> Vec<compaction::EntryId> {
    let shape = document.shape();
    shape.authored().flat_map(|index| document.section(index)).map(|e| e.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Env;

    #[test]
    fn default_jobs_are_given_once() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("app");
        fs::create_dir(&project).unwrap();
        let places =
            Places::of(&Env::of([("HOME", dir.path().to_str().unwrap())]), &project).unwrap();
        assert_eq!(claim_default(&places, "20260101").unwrap(), "app-20260101-1");
        places.ensure_job("app-20260101-2").unwrap();
        assert_eq!(claim_default(&places, "20260101").unwrap(), "app-20260101-3");
    }
}
