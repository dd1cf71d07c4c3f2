//! `brain-guard uninstall`: undoes the installation. What agents and users wrote (the projects'
//! `.brain-guard/`, the state, the settings, the store) stays, unless `--purge` removes it.

pub(super) mod data;

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

use super::install::{
    COMMAND, cached,
    client::{Client, MARKETPLACE, PLUGIN, Plugin},
    keys,
    place::{self, Change},
    shell,
};
use super::purge::size::measure;
use base::shown::size;

/// The paths of an installation; the caller reads the environment.
#[derive(Debug, Clone)]
pub struct UninstallPlan {
    /// brain-guard's folder in the user's data folder.
    pub data: PathBuf,
    /// Where the user's commands are linked (`~/.local/bin`).
    pub links: PathBuf,
    /// Where completions and man pages are linked.
    pub shells: shell::UserFolders,
    /// The client's program, where it was found on `PATH`.
    pub client: Option<PathBuf>,
    /// The client's config folder, which holds our settings and the chords.
    pub config: PathBuf,
    /// The folder with the state of all projects.
    pub state: PathBuf,
    /// The store of sessions and extracted content.
    pub store: PathBuf,
    /// The `.brain-guard` folders of known projects.
    pub projects: Vec<PathBuf>,
}

/// Uninstalls. The client comes first, so that no session starts with a hook whose binary is gone.
///
/// # Errors
/// A client that refuses (then nothing was removed), or a folder that cannot be removed.
pub fn uninstall(plan: &UninstallPlan, out: &mut dyn Write) -> Result<()> {
    let current = plan.data.join(place::CURRENT);
    match &plan.client {
        Some(program) => {
            let client = Client::new(program);
            match client.forget(&current)? {
                None => {
                    writeln!(
                        out,
                        "client   {} no longer has the plugin; in a running session, /reload-plugins ends its hooks",
                        program.display()
                    )?;
                    remove_copies(&plan.config.join("plugins"), out)?;
                }
                Some(other) => writeln!(
                    out,
                    "client   {} reads it from {}, which stays",
                    program.display(),
                    other.display()
                )?,
            }
            for Plugin { id, .. } in client.copies()? {
                writeln!(
                    out,
                    "         it keeps {id}; to remove it: claude plugin uninstall {id}"
                )?;
            }
        }
        None => writeln!(
            out,
            "client   no claude on PATH; where there is one, run `claude plugin uninstall {PLUGIN}`"
        )?,
    }

    keys::unbind(&plan.config, out)?;

    let link = plan.links.join(COMMAND);
    if place::is_ours(&link, &current.join(place::BINARY)) || cached::is_our_link(&link) {
        fs::remove_file(&link).with_context(|| format!("could not remove {}", link.display()))?;
        writeln!(out, "command  {} removed", link.display())?;
    } else if link.is_symlink() || link.exists() {
        writeln!(out, "command  {} is not ours and stays", link.display())?;
    }

    if shell::remove(&current, &plan.shells).context("could not remove completions")? {
        writeln!(out, "shell    completions and man pages removed")?;
    }

    let change = place::remove(&plan.data)
        .with_context(|| format!("could not remove {}", plan.data.display()))?;
    let what = if change == Change::Unchanged { "was not there" } else { "removed" };
    writeln!(out, "plugin   {} {what}", plan.data.display())?;
    Ok(())
}

/// Removes the copies that the client made of the plugin, and the folder it made for the plugin's
/// data, which we never use.
fn remove_copies(plugins: &Path, out: &mut dyn Write) -> Result<()> {
    let market = plugins.join("cache").join(MARKETPLACE);
    let copies = market.join(COMMAND);
    let (_, bytes, _) = measure(std::slice::from_ref(&copies));
    let removed = fs::remove_dir_all(&copies);
    if removed.as_ref().is_err_and(|e| e.kind() != io::ErrorKind::NotFound) {
        removed.with_context(|| format!("could not remove {}", copies.display()))?;
    } else if removed.is_ok() {
        writeln!(out, "copies   {} ({}) removed", copies.display(), size(bytes))?;
    }
    // They stay if something else is in them.
    for folder in [market, plugins.join("data").join(format!("{COMMAND}-{MARKETPLACE}"))] {
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

/// Lists our data that is still there, with sizes.
///
/// # Errors
/// The output cannot be written.
pub fn list_kept(plan: &UninstallPlan, out: &mut dyn Write) -> Result<()> {
    let own = [
        (plan.state.clone(), "state, log, copies of sealed versions"),
        (plan.config.join("brain-guard"), "settings and texts"),
        (plan.store.join("sessions"), "imported sessions and their tags"),
        (plan.store.join("extracted"), "content that placeholders in sessions refer to"),
    ];
    let projects = plan.projects.iter().map(|folder| (folder.clone(), "notes of a project"));
    let kept = own.into_iter().chain(projects).filter(|(path, _)| path.exists());
    for (number, (path, holds)) in kept.enumerate() {
        let title = if number == 0 { "kept" } else { "" };
        let (_, bytes, _) = measure(std::slice::from_ref(&path));
        writeln!(out, "{title:<8} {} ({holds}, {})", path.display(), size(bytes))?;
    }
    Ok(())
}
