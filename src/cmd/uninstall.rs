//! `brain-guard uninstall`: undoes the installation. What agents and users wrote (the projects'
//! `.brain-guard/`, the state, the settings) stays.

use std::{fs, io::Write, path::PathBuf};

use anyhow::{Context as _, Result};

use super::install::{
    COMMAND,
    client::{Client, PLUGIN},
    keys,
    place::{self, Change},
    shell,
};

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
    /// The state folder, which stays.
    pub state: PathBuf,
}

/// Uninstalls. The client comes first, so that no session starts with a hook whose binary is gone.
///
/// # Errors
/// A client that refuses (then nothing was removed), or a folder that cannot be removed.
pub fn uninstall(plan: &UninstallPlan, out: &mut dyn Write) -> Result<()> {
    let current = plan.data.join(place::CURRENT);
    match &plan.client {
        Some(program) => match Client::new(program).forget(&current)? {
            None => writeln!(
                out,
                "client   {} no longer has the plugin; in a running session, /reload-plugins ends its hooks",
                program.display()
            )?,
            Some(other) => writeln!(
                out,
                "client   {} reads it from {}, which stays",
                program.display(),
                other.display()
            )?,
        },
        None => writeln!(
            out,
            "client   no claude on PATH; where there is one, run `claude plugin uninstall {PLUGIN}`"
        )?,
    }

    keys::unbind(&plan.config, out)?;

    let link = plan.links.join(COMMAND);
    if place::is_ours(&link, &current.join(place::BINARY)) {
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

    let settings = plan.config.join("brain-guard");
    writeln!(out, "kept     .brain-guard/ in each project (compaction files)")?;
    let sessions = plan.data.join("sessions");
    for (kept, holds) in [
        (&plan.state, "state, log, copies of the sealed versions"),
        (&settings, "settings"),
        (&sessions, "imported sessions and their tags"),
    ] {
        if kept.exists() {
            writeln!(out, "         {} ({holds})", kept.display())?;
        }
    }
    Ok(())
}
