//! Finds the jobs of this machine when the state has no record yet: in a moved project, and in a
//! second working tree.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::{load, path};
use crate::files::repository;
use base::atomic;
use base::paths::{Places, is_safe_name};

/// Identifies a folder under any path: file system, inode and creation time. An inode alone may be
/// reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Folder(u64, u64, u64);

/// The project that a state belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Project {
    /// The project's folder.
    root: Option<Folder>,
    /// The folder that all working trees of its repository share.
    repository: Option<Folder>,
}

/// A folder's identity; `None` if the system does not report creation times.
fn identify(path: &Path) -> Option<Folder> {
    let meta = fs::metadata(path).ok().filter(fs::Metadata::is_dir)?;
    let made = meta.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Folder(meta.dev(), meta.ino(), u64::try_from(made.as_nanos()).ok()?))
}

fn project(places: &Places) -> Project {
    let repository = repository::find(&places.project);
    // A repository of a parent folder belongs to another project.
    let own = repository.filter(|r| repository::worktree(&r.own) == places.project);
    Project {
        root: identify(&places.project),
        repository: own.and_then(|repository| identify(&repository.common)),
    }
}

fn project_file(state: &Path) -> PathBuf {
    state.join("own").join(".project")
}

/// Creates the records once for each project.
pub(super) fn prepare(places: &Places) {
    if project_file(&places.state).exists() || !places.state.is_dir() {
        return;
    }
    // If nothing can be written, the next call tries again.
    let Ok(_held) = super::hold(places) else { return };
    let project = project(places);
    if let Some(root) = project.root {
        for state in states(places, |other| other.root == Some(root)) {
            copy(places, &state, |_| true);
        }
    }
    if let Ok(bytes) = serde_json::to_vec(&project) {
        let _ = atomic::write_unsynced(&project_file(&places.state), &bytes);
    }
}

/// Copies what another working tree of the same repository knows about these jobs. Jobs with other
/// notes here count as changed.
pub fn recognize(places: &Places, jobs: &[String]) {
    super::known_jobs::prepare(places);
    let Some(repository) = project(places).repository else { return };
    let Ok(_held) = super::hold(places) else { return };
    for state in states(places, |other| other.repository == Some(repository)) {
        copy(places, &state, |job| jobs.iter().any(|known| known == job));
    }
}

/// The states of other projects that match.
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
        if !is_safe_name(job) || !wanted(job) || load(places, job).is_some() {
            continue;
        }
        if let Ok(Some(bytes)) = atomic::read_record(&entry.path()) {
            let _ = atomic::write_unsynced(&path(places, job), &bytes);
        }
    }
}
