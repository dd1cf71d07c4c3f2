//! `brain-guard install`: puts the plugin's folder where the client can run it
//! from, links the command, tells the client, and binds the chords.
//!
//! Every release lies in a folder of its own, `<data>/<version>-<hash>`, and the
//! client knows only `<data>/current`, a link that is swapped by rename. So the
//! registered folder is whole at every instant, a run that is cut short changes
//! nothing, and sessions that are under way go on with the new binary.
//! What is there already is left as it is; a second run says so.

pub mod assets;
pub mod build;
pub mod client;
pub mod elf;
pub mod keys;
pub mod place;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

use self::{
    build::Checkout,
    client::{Client, Registration},
    elf::Linkage,
    place::{Change, Release},
};

/// The name under which the command is linked.
pub const COMMAND: &str = "brain-guard";

/// Where everything goes, and from what; the caller reads the environment.
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
    /// The client's program, where it was found on `PATH`.
    pub client: Option<PathBuf>,
    /// The client's config folder (`$CLAUDE_CONFIG_DIR`, else `~/.claude`).
    pub config: PathBuf,
    /// The source this was started from by `cargo run`, if it was.
    pub checkout: Option<Checkout>,
    /// Whether the chords are bound.
    pub keys: keys::Wish,
    /// Whether the client is offered the tool server (`extract.mcp`).
    pub tools: bool,
    /// The profile in force and its tiers, in words.
    pub tiers: String,
}

impl InstallPlan {
    /// The folder that the client is told of.
    pub fn current(&self) -> PathBuf {
        self.data.join(place::CURRENT)
    }
}

/// Installs, or completes an installation; what is already so stays untouched.
///
/// # Errors
/// A folder that can't be written, or a client that refuses. Everything before
/// the failed step is in place and valid; the same command goes on from there.
pub fn install(plan: &InstallPlan, out: &mut dyn Write) -> Result<()> {
    let program = build::program(&plan.binary, plan.checkout.as_ref(), out)?;
    let binary = fs::read(&program)
        .with_context(|| format!("could not read the binary {}", program.display()))?;
    let linkage = elf::linkage(&binary);
    let release = Release::new(env!("CARGO_PKG_VERSION"), binary, plan.tools);

    let change = place::release(&plan.data, &release)
        .with_context(|| format!("could not install to {}", plan.data.display()))?;
    writeln!(out, "plugin   {} ({change})", plan.data.join(release.name()).display())?;
    writeln!(out, "binary   {}", cost(linkage))?;
    if plan.tools {
        writeln!(out, "tools    purge_control, inject and search are offered (extract.mcp)")?;
    }

    link(plan, out)?;
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
    Ok(())
}

/// What the binary's form means for a hook that runs at every tool call.
fn cost(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Static => "static, at a fixed address: the fastest start",
        Linkage::StaticPie => {
            "static, position-independent: every hook relocates it first, which costs it about half its start again"
        }
        Linkage::Dynamic => {
            "for the host, dynamically linked: every hook starts several times slower than the static one, \
             which `cargo run --release -- install` in the source builds"
        }
        Linkage::Unknown => "not an ELF file: its start was not measured on this system",
    }
}

/// Links the command, unless something that is not ours is in its place.
fn link(plan: &InstallPlan, out: &mut dyn Write) -> Result<()> {
    let link = plan.links.join(COMMAND);
    let target = plan.current().join(place::BINARY);
    let change = place::link(&link, &target)
        .with_context(|| format!("could not link {}", link.display()))?;
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

/// Tells the client of the folder; without a client, what is to be done later.
fn register(plan: &InstallPlan, out: &mut dyn Write) -> Result<()> {
    let current = plan.current();
    let Some(program) = &plan.client else {
        writeln!(
            out,
            "client   no claude on PATH; once it is there, run `{COMMAND} install` again"
        )?;
        return Ok(());
    };
    let registration = Client::new(program).register(&current)?;
    writeln!(out, "client   {}", told(&registration, program, &current))?;
    Ok(())
}

fn told(registration: &Registration, program: &Path, current: &Path) -> String {
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
