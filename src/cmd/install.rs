//! `brain-guard install`: puts the plugin's folder in place, links the command, registers the
//! plugin with the client, and binds the chords.
//!
//! Every release has its own folder, `<data>/<version>-<hash>`. The client knows only
//! `<data>/current`, a link that is replaced by rename. So the registered folder is complete at any
//! time, an interrupted run changes nothing, and running sessions continue with the new binary. A
//! second run changes nothing and says so.

pub mod assets;
pub mod client;
pub mod installation;
pub mod keys;
pub mod place;
pub mod shell;

use std::{fs, io::Write, path::Path};

use anyhow::{Context as _, Result, bail};

use self::client::{Client, NOT_FOUND, Registration, unusable_settings};
use self::installation::{Installation, program};
use base::env::Env;

/// The name under which the command is linked.
pub const COMMAND: &str = "brain-guard";

/// Whether a step changed something, in words.
fn word(is_changed: bool) -> &'static str {
    if is_changed { "new" } else { "unchanged" }
}

/// Installs, or completes an installation, with the program in `binary`. What is already right stays
/// untouched.
///
/// # Errors
/// A folder that cannot be written. All steps before the failed one stay valid, and the same command
/// continues from there.
pub fn install(at: &Installation, binary: &Path, out: &mut dyn Write) -> Result<Registration> {
    let bytes = fs::read(binary).with_context(|| format!("could not read {}", binary.display()))?;
    let in_data = || {
        format!(
            "could not install to {}; free space there or make it writable (XDG_DATA_HOME sets another folder for a first installation)",
            at.data.display()
        )
    };
    let (release, is_changed) = place::release(&at.data, &bytes).with_context(in_data)?;
    writeln!(out, "plugin   {} ({})", release.display(), word(is_changed))?;
    at.link_command(&at.current().join(place::BINARY), out)?;
    shell::install(&at.current(), &at.shells, out)?;
    let registration = match register(at, out) {
        Ok(registration) => registration,
        // The client may still run the release before.
        Err(why) => return Ok(Registration::Failed(format!("{why:#}"))),
    };
    place::remove(&at.data, Some(&release)).with_context(in_data)?;
    Ok(registration)
}

/// Registers the folder with the client, if there is one.
fn register(at: &Installation, out: &mut dyn Write) -> Result<Registration> {
    let Some(program) = &at.client else {
        writeln!(out, "client   {NOT_FOUND}")?;
        return Ok(Registration::NoClient);
    };
    let client = Client::new(program);
    let (mut registration, words) = client.register(&at.current())?;
    if let (Registration::Disabled, Some(why)) = (&registration, unusable_settings(&at.config)) {
        registration = Registration::Failed(why);
    }
    writeln!(out, "client   {} {words}", program.display())?;
    for other in client.copies()?.iter().filter(|copy| !copy.is_installed()) {
        let id = &other.id;
        writeln!(
            out,
            "         it also has {id}, and runs only one of them; to remove that one: `claude plugin uninstall {id}`"
        )?;
    }
    Ok(registration)
}

/// Completes an installation with this program, and says what that changed. The chords stay as they
/// are, because the user may have refused them.
///
/// # Errors
/// An error of a step; earlier steps stay done.
pub fn repair(env: &Env) -> Result<String> {
    let mut said = Vec::new();
    let at = Installation::find(env)?;
    let registration = install(&at, &program(env)?, &mut said)?;
    if let Registration::Failed(why) = registration {
        bail!(why);
    }
    let link = at.link();
    if link.symlink_metadata().is_err() {
        bail!("{} could not be made; let its folder be one that you can write in", link.display());
    }
    let said = String::from_utf8_lossy(&said);
    let done: Vec<String> = said
        .lines()
        .filter(|line| !line.starts_with(' '))
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    Ok(format!("installed again: {}", done.join("; ")))
}

#[cfg(test)]
mod tests;
