//! Starts the waiter: the process that watches a boundary and performs it if the carrier types
//! keys.
#![allow(clippy::disallowed_methods, reason = "this module starts a process")]

use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use base::env::Env;
use base::lock;
use base::paths::Places;

/// Starts the waiter of a token, unless one runs.
///
/// # Errors
/// What the system says of starting it.
pub fn start(env: &Env, places: &Places, token: &str) -> io::Result<()> {
    if lock::acquire(&waiter_lock(places, token), Duration::ZERO).is_err() {
        return Ok(());
    }
    let program = env
        .program()
        .ok_or_else(|| io::Error::other("brain-guard cannot find its own program file"))?;
    Command::new(program)
        .args(["waiter", token, "--project"])
        .arg(&places.project)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
}

/// The lock file that a token's waiter holds while it runs.
pub fn waiter_lock(places: &Places, token: &str) -> PathBuf {
    places.token(token).with_extension("waiter")
}
