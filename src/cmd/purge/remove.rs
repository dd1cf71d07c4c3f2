//! Removes the chosen data. After a failure it continues with the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::Serialize;

use super::project::Project;
use super::project::is_link;
use super::stored::Stored;
use crate::cli::PurgeKind as Kind;
use crate::cmd::import;
use base::lock::{self, Lock};
use base::paths::Places;
use guard::files::prune;
use guard::files::state;
use store::blocks::Root;
use store::extracted;
use store::index::Index;

#[derive(Debug, Serialize)]
pub struct RemovalFailure {
    pub path: PathBuf,
    pub why: String,
}

/// Removes all chosen data that has no reason to stay.
pub fn remove(states: &Path, store: Option<&Root>, chosen: &[Stored]) -> Vec<RemovalFailure> {
    let mut remover = Remover { states, store, projects: BTreeMap::new(), imported: false };
    let (mut failed, mut contents) = (Vec::new(), Vec::new());
    for kept in chosen.iter().filter(|kept| kept.keep_reason.is_none()) {
        let done = match kept.kind {
            Kind::Extracted if !is_link(&kept.path) => {
                contents.push(kept);
                Ok(())
            }
            Kind::Editions | Kind::Store | Kind::Extracted => remover.store(kept),
            _ => remover.state(kept),
        };
        failed.extend(done.err().map(|e| failure(&kept.path, &e)));
    }
    if let Err(e) = remover.contents(&contents) {
        failed.extend(contents.iter().map(|kept| failure(&kept.path, &e)));
    }
    if remover.imported
        && let Some(root) = store
        && let Err(e) = Index::new(root.clone()).compact()
    {
        failed.push(failure(&root.sessions(), &e.into()));
    }
    failed
}

fn failure(path: &Path, why: &anyhow::Error) -> RemovalFailure {
    RemovalFailure { path: path.to_owned(), why: format!("{why:#}") }
}

struct Remover<'a> {
    states: &'a Path,
    store: Option<&'a Root>,
    /// The present state of the projects: the user may have taken long to answer.
    projects: BTreeMap<PathBuf, Project>,
    imported: bool,
}

impl Remover<'_> {
    fn state(&mut self, kept: &Stored) -> anyhow::Result<()> {
        let mut above = kept.path.ancestors();
        let projects = self.states.join("projects");
        let state = above.find(|path| path.parent() == Some(&*projects));
        let state = state.context("it is not in the state")?.to_path_buf();
        let project = self.projects.entry(state.clone()).or_insert_with(|| {
            let (project, user) = (PathBuf::new(), PathBuf::new());
            Project::of(Places {
                project,
                states: self.states.to_path_buf(),
                state,
                user_settings: user.clone(),
                user_texts: user,
            })
        });
        let (session, job) = (kept.session.as_deref(), kept.job.as_deref());
        if kept.kind != Kind::Log && project.keep_reason(session, job).is_some() {
            bail!("its session was opened meanwhile");
        }
        let _held = session.map(|id| hold(&project.places, id)).transpose()?;
        let removed = kept.paths.iter().map(|path| remove_all(path));
        removed.fold(Ok(()), io::Result::and)?;
        if kept.kind == Kind::Notes && !is_link(&kept.path) {
            // This fails if something else is still in it.
            let _ = fs::remove_dir(&kept.path);
        }
        Ok(())
    }

    /// Removes an imported session or an edition of it, or a link in the place of extracted content.
    fn store(&mut self, kept: &Stored) -> anyhow::Result<()> {
        let root = self.store.context("the store can't be used")?;
        let is_session = kept.kind == Kind::Store;
        let path = if is_session { Some(&*kept.path) } else { kept.path.parent() };
        let folder = root.all()?.into_iter().find(|folder| Some(&*folder.path) == path);
        let mut held = None;
        if let Some(folder) = folder.filter(|_| kept.kind != Kind::Extracted) {
            let agent = folder.path.parent().unwrap_or(&folder.path);
            if is_link(agent) {
                bail!("{} is a link; remove it with rm", agent.display());
            }
            if !is_link(&folder.path) {
                held = Some(import::hold(&folder, Duration::ZERO)?);
            }
            if is_session {
                Index::new(root.clone()).forget(&folder)?;
                self.imported = true;
            }
        }
        remove_all(&kept.path)?;
        drop(held);
        Ok(())
    }

    fn contents(&self, chosen: &[&Stored]) -> anyhow::Result<()> {
        let Some(root) = self.store.filter(|_| !chosen.is_empty()) else { return Ok(()) };
        let all = extracted::find_ledgers(root).found.into_iter();
        let ours = all.filter(|of| chosen.iter().any(|kept| kept.path == of.folder));
        let names: BTreeSet<String> = ours.map(|of| of.name()).collect();
        Ok(extracted::forget(root, &names)?)
    }
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
