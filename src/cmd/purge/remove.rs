//! Removes the chosen data. After a failure it continues with the rest.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::project::Project;
use super::project::is_link;
use super::stored::{Owner, Stored};
use crate::cli::PurgeKind as Kind;
use crate::cmd::import;
use base::lock::{self, Lock};
use base::paths::Places;
use guard::files::prune;
use guard::files::state;
use store::blocks::{Folder, Root};
use store::extracted;
use store::index::Index;

#[derive(Debug, Serialize)]
pub struct RemovalFailure {
    pub path: PathBuf,
    pub why: String,
}

/// Removes all chosen data that has no reason to stay.
pub fn remove(store: Option<&Root>, chosen: &[Stored]) -> Vec<RemovalFailure> {
    let going = || chosen.iter().filter(|stored| stored.keep_reason.is_none());
    // As they are now: the user may have taken long to answer.
    let mut projects = BTreeMap::new();
    let mut failed = Vec::new();
    for stored in going() {
        let removed = match &stored.owner {
            Owner::Project(places) => {
                let project = projects.entry(&places.state);
                remove_state(project.or_insert_with(|| Project::of(places.clone())), stored)
            }
            Owner::Imported(folder) => remove_imported(store, folder, stored),
            Owner::Extracted(_) if is_link(&stored.path) => {
                remove_all(&stored.path).map_err(Into::into)
            }
            Owner::Extracted(_) => continue,
        };
        failed.extend(removed.err().map(|e| failure(&stored.path, &e)));
    }
    let Some(root) = store else { return failed };
    let contents = going().filter_map(|stored| match &stored.owner {
        Owner::Extracted(name) if stored.path.is_dir() && !is_link(&stored.path) => {
            Some((name.clone(), &stored.path))
        }
        _ => None,
    });
    let contents: BTreeMap<String, &PathBuf> = contents.collect();
    if !contents.is_empty()
        && let Err(e) = extracted::forget(root, &contents.keys().cloned().collect())
    {
        let e = e.into();
        failed.extend(contents.values().map(|path| failure(path, &e)));
    }
    if going().any(|stored| stored.kind == Kind::Store)
        && let Err(e) = Index::new(root.clone()).compact()
    {
        failed.push(failure(&root.sessions(), &e.into()));
    }
    failed
}

fn failure(path: &Path, why: &anyhow::Error) -> RemovalFailure {
    RemovalFailure { path: path.to_owned(), why: format!("{why:#}") }
}

fn remove_state(project: &Project, stored: &Stored) -> anyhow::Result<()> {
    let (session, job) = (stored.session.as_deref(), stored.job.as_deref());
    if stored.kind != Kind::Log && project.keep_reason(session, job).is_some() {
        bail!("its session was opened meanwhile");
    }
    let _held = session.map(|id| hold(&project.places, id)).transpose()?;
    stored.paths.iter().map(|path| remove_all(path)).fold(Ok(()), io::Result::and)?;
    if stored.kind == Kind::Notes && !is_link(&stored.path) {
        // This fails if something else is still in it.
        let _ = fs::remove_dir(&stored.path);
    }
    Ok(())
}

/// Removes an imported session, or an edition of it.
fn remove_imported(store: Option<&Root>, folder: &Folder, stored: &Stored) -> anyhow::Result<()> {
    let root = store.context("the store can't be used")?;
    let agent = folder.path.parent().unwrap_or(&folder.path);
    if is_link(agent) {
        bail!("{} is a link; remove it with rm", agent.display());
    }
    let is_ours = !is_link(&folder.path);
    let _held = is_ours.then(|| import::hold(folder, Duration::ZERO)).transpose()?;
    if stored.kind == Kind::Store {
        Index::new(root.clone()).forget(folder)?;
    }
    Ok(remove_all(&stored.path)?)
}

/// Removes a file, a link, or a folder with its content. A missing path is no error.
pub fn remove_all(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(e) => Err(e),
    };
    match removed {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Locks a known session against changes, and makes sure that no client has it open.
fn hold(places: &Places, session: &str) -> anyhow::Result<Option<Lock>> {
    let lock = places.session(session, "lock");
    let known = places.session(session, "json");
    if is_link(&places.state.join("sessions")) || is_link(&lock) || !known.exists() {
        return Ok(None);
    }
    let held = lock::acquire(&lock, Duration::ZERO).context("its session is at work")?;
    let open = state::load(places, session)
        .is_ok_and(|state| state.is_some_and(|state| !prune::is_closed(places, &state)));
    if open {
        bail!("its session was opened meanwhile");
    }
    Ok(Some(held))
}
