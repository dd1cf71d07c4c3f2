//! `uninstall --purge`: removes what `purge --all-projects --forget` removes, the settings, and the
//! folders that are empty then.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::UninstallPlan;
use crate::cli::{PurgeArgs, PurgeKind};
use crate::cmd::purge::size::measure;
use crate::cmd::purge::{Failure, Selection, Stays, list, shown};
use crate::cmd::{confirmed, err, out};
use base::clock::Time;
use base::env::Env;
use base::shown::size;
use guard::files::prune::remove_beneath;

/// The data of all projects, and the settings.
pub struct Data {
    selection: Selection,
    settings: PathBuf,
    /// The other folders that are ours alone.
    folders: Vec<PathBuf>,
}

impl Data {
    /// Finds it.
    ///
    /// # Errors
    /// HOME is not set.
    pub fn find(env: &Env, plan: &UninstallPlan, now: Time) -> anyhow::Result<Self> {
        let all = PurgeArgs { all_projects: true, forget: true, ..PurgeArgs::default() };
        let selection = Selection::find(env, &all, now)?;
        // A store that the user put elsewhere may hold other files.
        let store = selection.store.as_ref().filter(|root| root.path() == plan.data);
        let store = store.map(|root| [root.sessions(), root.path().join("extracted")]);
        let folders = store.into_iter().flatten().chain([plan.state.clone()]).collect();
        Ok(Self { selection, settings: plan.config.join("brain-guard"), folders })
    }

    /// Lists it, with the sessions whose placeholders need it.
    pub fn list(&self, now: Time) {
        list(&self.selection.chosen, now);
        let (count, bytes, _) = measure(std::slice::from_ref(&self.settings));
        if count > 0 {
            let path = shown(&self.settings);
            out(format_args!(
                "{:<10} {count:>6} {:>11} {:>7}  {path}",
                "settings",
                size(bytes),
                "-"
            ));
        }
        let needed = self.selection.chosen.iter().filter(|kept| kept.stays.is_none());
        for kept in needed.filter(|kept| kept.kind == PurgeKind::Extracted) {
            let session = kept.session.as_deref().unwrap_or_default();
            out(format_args!(
                "the placeholders of session {session} can't be restored then; to restore them first: \
                 brain-guard extract restore {session} all"
            ));
        }
    }

    /// Asks the user.
    ///
    /// # Errors
    /// The terminal cannot be used.
    pub fn confirmed(&self) -> io::Result<bool> {
        let all: Vec<PathBuf> = self.folders.iter().chain([&self.settings]).cloned().collect();
        let (_, bytes, _) = measure(&all);
        confirmed(
            &format!("the plugin and {} of data would be removed", size(bytes)),
            "--yes removes them, and `brain-guard uninstall` removes only the plugin",
        )
    }

    /// Removes it. What belongs to an open session stays, and then the settings and indexes, too.
    /// Returns whether everything is gone.
    pub fn remove(&self) -> bool {
        let mut failed = self.selection.remove();
        let stays = |stays| stays != Stays::InProject;
        let is_open = self.selection.chosen.iter().any(|kept| kept.stays.is_some_and(stays));
        if !is_open && failed.is_empty() {
            for folder in self.folders.iter().chain([&self.settings]) {
                let parent = folder.parent().unwrap_or(folder);
                if let Err(e) = remove_beneath(parent, folder) {
                    failed.push(Failure { path: folder.clone(), why: e.to_string() });
                }
            }
            // It stays if something else is in it.
            let _ = self.selection.store.as_ref().map(|store| fs::remove_dir(store.path()));
        }
        for Failure { path, why } in &failed {
            err(format_args!("{} could not be removed: {why}", shown(path)));
        }
        if is_open {
            err(
                "data of open sessions stays, and with it the settings; when they have ended, remove \
                 the folders below with rm",
            );
        }
        !is_open && failed.is_empty()
    }
}
