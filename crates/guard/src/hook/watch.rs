//! Starts the process that watches a boundary, and carries it where keys do.
#![allow(clippy::disallowed_methods, reason = "this module starts a process")]

use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use base::env::Env;
use base::lock;
use base::paths::Places;

/// Starts the waiter of a token, unless it has one.
///
/// # Errors
/// What the system says of starting it.
pub fn start(env: &Env, places: &Places, token: &str) -> io::Result<()> {
    if lock::acquire(&held(places, token), Duration::ZERO).is_err() {
        return Ok(());
    }
    let program = env.program().ok_or_else(|| io::Error::other("own path unknown"))?;
    Command::new(program)
        .args(["waiter", token, "--project"])
        .arg(&places.project)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
}

/// Held by the one waiter of a token while it lives.
pub fn held(places: &Places, token: &str) -> PathBuf {
    places.token(token).with_extension("waiter")
}
