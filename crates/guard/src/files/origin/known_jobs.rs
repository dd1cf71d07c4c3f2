//! Which jobs are this machine's when the state says nothing of it yet: those of an earlier
//! version of the guard, and of a project that was moved or has a second working tree.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::{Known, digest, load, path, write};
use crate::boundary::Token;
use crate::files::{job_files, repository};
use crate::session::Session;
use base::atomic;
use base::paths::{Places, safe_name};

/// What tells a folder from every other one, under whatever path: the file system, its
/// number there, and when it was made. A number alone is given again once it is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Folder(u64, u64, u64);

/// What a state belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Project {
    /// The project's folder.
    root: Option<Folder>,
    /// What all working trees of its repository share.
    repository: Option<Folder>,
}

/// A folder's identity; `None` where the system does not tell when it was made.
fn identify(path: &Path) -> Option<Folder> {
    let meta = fs::metadata(path).ok().filter(fs::Metadata::is_dir)?;
    let made = meta.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Folder(meta.dev(), meta.ino(), u64::try_from(made.as_nanos()).ok()?))
}

fn project(places: &Places) -> Project {
    let repository = repository::find(&places.project);
    // The repository of a folder further up is another project's.
    let own = repository.filter(|r| repository::worktree(&r.own) == places.project);
    Project {
        root: identify(&places.project),
        repository: own.and_then(|repository| identify(&repository.common)),
    }
}

fn project_file(state: &Path) -> PathBuf {
    state.join("own").join(".project")
}

/// Sets the record up where there is none: once for each project.
pub(super) fn prepare(places: &Places) {
    if project_file(&places.state).exists() || !places.state.is_dir() {
        return;
    }
    // Where nothing can be kept, the next call tries again.
    let Ok(_held) = super::hold(places) else { return };
    let project = project(places);
    for job in earlier(places) {
        if load(places, &job).is_none() {
            let all = job_files::prompts(places, &job);
            let known = Known {
                digest: digest(places, &job),
                first: all.first().cloned(),
                last: all.last().cloned(),
                ..Known::default()
            };
            let _ = write(places, &job, &known);
        }
    }
    if let Some(root) = project.root {
        for state in states(places, |other| other.root == Some(root)) {
            copy(places, &state, |_| true);
        }
    }
    if let Ok(bytes) = serde_json::to_vec(&project) {
        let _ = atomic::write_unsynced(&project_file(&places.state), &bytes);
    }
}

/// Takes over what another working tree of the same repository knows of these jobs. Their
/// notes may be others here: then they count as changed.
pub fn recognize(places: &Places, jobs: &[String]) {
    super::known_jobs::prepare(places);
    let Some(repository) = project(places).repository else { return };
    let Ok(_held) = super::hold(places) else { return };
    for state in states(places, |other| other.repository == Some(repository)) {
        copy(places, &state, |job| jobs.iter().any(|known| known == job));
    }
}

/// The states of other projects of which this holds.
fn states(places: &Places, holds: impl Fn(&Project) -> bool) -> Vec<PathBuf> {
    let all = places.state.parent().and_then(|states| fs::read_dir(states).ok());
    let others = all.into_iter().flatten().flatten().map(|entry| entry.path());
    others
        .filter(|state| *state != places.state)
        .filter(|state| {
            let bytes = atomic::read_record(&project_file(state)).ok().flatten();
            let project = bytes.and_then(|bytes| serde_json::from_slice::<Project>(&bytes).ok());
            project.is_some_and(|project| holds(&project))
        })
        .collect()
}

fn copy(places: &Places, state: &Path, wanted: impl Fn(&str) -> bool) {
    for entry in fs::read_dir(state.join("own")).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(job) = name.to_str().and_then(|name| name.strip_suffix(".json")) else { continue };
        if !safe_name(job) || !wanted(job) || load(places, job).is_some() {
            continue;
        }
        if let Ok(Some(bytes)) = atomic::read_record(&entry.path()) {
            let _ = atomic::write_unsynced(&path(places, job), &bytes);
        }
    }
}

/// Jobs that the state of an earlier version names: in its sessions, boundaries, claims and
/// copies of sealed versions.
fn earlier(places: &Places) -> BTreeSet<String> {
    let files = |folder: &str| {
        let all = fs::read_dir(places.state.join(folder)).into_iter().flatten().flatten();
        all.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let json = |path: &PathBuf| {
        let is_json = path.extension().is_some_and(|e| e == "json");
        if is_json { atomic::read_record(path).ok().flatten() } else { None }
    };
    let name = |path: &PathBuf| Some(path.file_name()?.to_str()?.to_owned());
    let sessions = files("sessions")
        .into_iter()
        .filter_map(|path| Some(serde_json::from_slice::<Session>(&json(&path)?).ok()?.job));
    let tokens = files("boundary")
        .into_iter()
        .filter_map(|path| Some(serde_json::from_slice::<Token>(&json(&path)?).ok()?.job));
    let named = files("claims").into_iter().chain(files("sealed"));
    let all = sessions.chain(tokens).chain(named.filter_map(|path| name(&path)));
    all.map(|job| job_files::name_now(places, &job)).filter(|job| safe_name(job)).collect()
}

#[cfg(test)]
pub(super) fn forget_all(places: &Places) {
    let _ = fs::remove_dir_all(super::folder(places));
}
