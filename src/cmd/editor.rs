//! A file in the user's editor, and the questions that follow.

use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use signal_hook::consts::SIGINT;

use super::ask;
use base::env::Env;

/// Asks on the terminal until the answer is yes (or empty) or no.
///
/// # Errors
/// A terminal that cannot be written or read.
pub fn agrees(question: &str) -> io::Result<bool> {
    loop {
        match ask(question)?.to_lowercase().as_str() {
            "" | "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => {}
        }
    }
}

/// Starts the user's editor as Git does, and waits for it.
///
/// # Errors
/// An editor that can't be started, or that fails.
pub fn open(env: &Env, file: &Path) -> anyhow::Result<()> {
    // An interrupt is for the editor.
    signal_hook::flag::register(SIGINT, Arc::default())?;
    let set = |name| env.get(name).filter(|editor| !editor.trim().is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let status = Command::new("sh")
        .args(["-c", &format!("{editor} \"$@\""), &editor])
        .arg(file)
        .status()
        .with_context(|| format!("could not start the editor `{editor}`"))?;
    if !status.success() {
        bail!("the editor `{editor}` failed ({status}); nothing was written");
    }
    Ok(())
}
