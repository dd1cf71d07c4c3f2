//! A job's files: the compaction file, its sealed versions, and the request that
//! a seal leaves for the hooks (in the client's sandbox a verb may write only in
//! the project; the hooks keep the state).
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::atomic;
use super::lock::{self, Lock};
use super::paths::Places;
use crate::clock::Time;
use crate::compaction::{self, Document};
use crate::job::default_name;
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

/// What a seal asks the hooks to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Session that sealed.
    pub session: String,
    /// Version of the sealed file.
    pub version: u64,
    /// A boundary was asked for in so many words (`--clear`), or against.
    pub clear: Option<bool>,
    /// The session wrote something of its own; without that no boundary.
    pub authored: bool,
    /// When.
    pub at: Time,
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

/// Leaves a request for the hooks.
///
/// # Errors
/// What the system says.
pub fn leave_request(places: &Places, job: &str, request: &Request) -> io::Result<()> {
    let dir = sealed_dir(places, job);
    fs::create_dir_all(&dir)?;
    let bytes = serde_json::to_vec(request).map_err(io::Error::from)?;
    atomic::write(&dir.join("request.json"), &bytes)
}

/// Takes a session's request away; a damaged one is removed as well.
pub fn take_request(places: &Places, job: &str, session: &str) -> Option<Request> {
    let path = sealed_dir(places, job).join("request.json");
    let bytes = atomic::read(&path).ok().flatten()?;
    let request: Option<Request> = serde_json::from_slice(&bytes).ok();
    if request.as_ref().is_some_and(|r| r.session != session) {
        return None;
    }
    let _ = atomic::remove(&path);
    request
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

    #[test]
    fn a_request_is_taken_once_and_only_by_its_session() {
        let dir = tempfile::tempdir().unwrap();
        let places =
            Places::of(&Env::of([("HOME", dir.path().to_str().unwrap())]), dir.path()).unwrap();
        let at = "2026-01-01T00:00:00Z".parse().unwrap();
        let request = Request { session: "s".into(), version: 1, clear: None, authored: true, at };
        leave_request(&places, "j", &request).unwrap();
        assert_eq!(take_request(&places, "j", "other"), None);
        assert_eq!(take_request(&places, "j", "s"), Some(request));
        assert_eq!(take_request(&places, "j", "s"), None);
    }
}
