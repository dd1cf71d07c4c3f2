//! `brain-guard install`: puts the plugin's folder in place, links the command, registers the
//! plugin with the client, and binds the chords.
//!
//! Every release has its own folder, `<data>/<version>-<hash>`. The client knows only
//! `<data>/current`, a link that is replaced by rename. So the registered folder is complete at any
//! time, an interrupted run changes nothing, and running sessions continue with the new binary. A
//! second run changes nothing and says so.

pub mod assets;
pub mod cached;
pub mod client;
pub mod elf;
pub mod keys;
pub mod place;
pub mod shell;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

use self::{
    client::{Client, Plugin, Registration},
    elf::Linkage,
    place::{Change, Release},
};
use super::import;

/// The name under which the command is linked.
pub const COMMAND: &str = "brain-guard";

/// The paths and choices of an installation; the caller reads the environment.
#[derive(Debug, Clone)]
pub struct InstallPlan {
    /// The program that runs, as the system names it (`current_exe`).
    pub binary: PathBuf,
    /// brain-guard's folder in the user's data folder (`$XDG_DATA_HOME/brain-guard`).
    pub data: PathBuf,
    /// Where the user's commands are linked (`~/.local/bin`).
    pub links: PathBuf,
    /// Whether that folder is on the user's `PATH`.
    pub on_path: bool,
    /// Where completions and man pages are linked.
    pub shells: shell::UserFolders,
    /// The client's program, where it was found on `PATH`.
    pub client: Option<PathBuf>,
    /// The client's config folder (`$CLAUDE_CONFIG_DIR`, else `~/.claude`).
    pub config: PathBuf,
    /// Whether to bind the chords.
    pub keys: keys::Wish,
    /// Whether sessions are imported as they end (`surgery.import`).
    pub imports: bool,
    /// The profile in force and its tiers, in words.
    pub tiers: String,
}

impl InstallPlan {
    /// The folder that is registered with the client.
    pub fn current(&self) -> PathBuf {
        self.data.join(place::CURRENT)
    }
}

/// Installs, or completes an installation. What is already right stays untouched.
///
/// # Errors
/// A folder that cannot be written, or a client that refuses. All steps before the failed one stay
/// valid, and the same command continues from there.
pub fn install(plan: &InstallPlan, out: &mut dyn Write) -> Result<()> {
    let binary = fs::read(&plan.binary)
        .with_context(|| format!("could not read the binary {}", plan.binary.display()))?;
    let linkage = elf::linkage(&binary);
    let release = Release::new(env!("CARGO_PKG_VERSION"), binary);

    let change = place::release(&plan.data, &release)
        .with_context(|| format!("could not install to {}", plan.data.display()))?;
    writeln!(out, "plugin   {} ({change})", plan.data.join(release.name()).display())?;
    writeln!(out, "binary   {}", cost(linkage))?;

    link(plan, out)?;
    shell::install(&plan.current(), &plan.shells, out)?;
    register(plan, out)?;
    keys::bind(&plan.config, plan.keys, out)?;
    place::remove_older(&plan.data, &release)?;

    writeln!(out, "tiers    {}", plan.tiers)?;
    let settings = plan.config.join("brain-guard").join("settings.json");
    writeln!(
        out,
        "         to change them: {{\"profile\": \"relaxed\"}} in {}",
        settings.display()
    )?;
    if !plan.imports {
        writeln!(
            out,
            "history  to import each session as it ends, for search and surgery: {} there",
            import::AT_SESSION_END
        )?;
    }
    Ok(())
}

/// What the binary's linkage costs a hook, which runs at every tool call.
fn cost(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Static => "static: the fastest start",
        Linkage::Dynamic => {
            "for the host, dynamically linked: every hook starts slower than with the static one, \
             which `cargo xtask install` in the source builds"
        }
        Linkage::Unknown => "not an ELF file: its start was not measured on this system",
    }
}

/// Links the command, unless something else is in its place. A link to a copy from a marketplace is
/// ours: that copy may be updated or removed.
fn link(plan: &InstallPlan, out: &mut dyn Write) -> Result<()> {
    let link = plan.links.join(COMMAND);
    let target = plan.current().join(place::BINARY);
    let change = if cached::is_our_link(&link) {
        place::point(&link, &target).map(|_| Some(Change::Mended))
    } else {
        place::link(&link, &target)
    };
    let change = change.with_context(|| format!("could not link {}", link.display()))?;
    match change {
        Some(change) => {
            writeln!(out, "command  {} ({change})", link.display())?;
            if !plan.on_path {
                writeln!(
                    out,
                    "         {} is not on your PATH; call it by this path or add it",
                    plan.links.display()
                )?;
            }
        }
        None => writeln!(
            out,
            "command  {} is not ours and stays; remove it and install again, or call {}",
            link.display(),
            target.display()
        )?,
    }
    Ok(())
}

/// Registers the folder with the client. Without a client, prints what to do later.
fn register(plan: &InstallPlan, out: &mut dyn Write) -> Result<()> {
    let current = plan.current();
    let Some(program) = &plan.client else {
        writeln!(
            out,
            "client   no claude on PATH; once it is there, run `{COMMAND} install` again"
        )?;
        return Ok(());
    };
    let client = Client::new(program);
    let registration = client.register(&current)?;
    writeln!(out, "client   {}", describe_registration(&registration, program, &current))?;
    for Plugin { id, .. } in client.copies()?.iter().filter(|copy| !copy.is_installed()) {
        writeln!(
            out,
            "         it also has {id}, and runs only one of them; to remove that one: claude plugin uninstall {id}"
        )?;
    }
    Ok(())
}

fn describe_registration(registration: &Registration, program: &Path, current: &Path) -> String {
    let (program, current) = (program.display(), current.display());
    match registration {
        Registration::Unchanged { enabled: true } => {
            format!("{program} reads it from {current} (unchanged)")
        }
        Registration::Unchanged { enabled: false } => format!(
            "{program} reads it from {current} (unchanged); it is disabled: claude plugin enable {}",
            client::PLUGIN
        ),
        Registration::Made { elsewhere: None } => {
            format!(
                "{program} reads it from {current}, from the next session or /reload-plugins on"
            )
        }
        Registration::Made { elsewhere: Some(folder) } => format!(
            "{program} reads it from {current}, from the next session or /reload-plugins on (until now from {})",
            folder.display()
        ),
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Made => "new",
            Self::Mended => "mended",
            Self::Unchanged => "unchanged",
        })
    }
}

#[cfg(test)]
mod tests;
