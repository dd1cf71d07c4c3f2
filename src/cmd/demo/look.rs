//! Reads the guard's state, its boundary and files from disk, for the checks.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::client::{Client, broken};
use super::stage::{Stop, expect};
use base::atomic;
use guard::boundary::Token;
use guard::files::{boundary, state};
use guard::session::Session;

/// The session's state as the guard saved it.
///
/// # Errors
/// No state, or an unreadable one.
pub fn session(client: &Client) -> Result<Session, Stop> {
    let session = state::load(&client.world.places, &client.session)
        .map_err(broken("could not read the state"))?;
    expect(session.is_some(), "state of the session", || "none")?;
    Ok(session.unwrap_or_default())
}

/// The boundary that this session ends in or came from.
///
/// # Errors
/// No such boundary, or an unreadable one.
pub fn token(client: &Client) -> Result<Token, Stop> {
    let id = session(client)?.token.unwrap_or_default();
    load_token(client, &id)
}

///
/// # Errors
/// No such boundary, or an unreadable one.
pub fn load_token(client: &Client, id: &str) -> Result<Token, Stop> {
    let loaded =
        boundary::load(&client.world.places, id).map_err(broken("could not read the boundary"))?;
    loaded.ok_or_else(|| Stop::Missed { expected: "a boundary".into(), came: "none".into() })
}

/// Path of the session's compaction file.
///
/// # Errors
/// As [`session`].
pub fn file(client: &Client) -> Result<PathBuf, Stop> {
    Ok(client.world.places.compaction(&session(client)?.job))
}

/// A file's text; empty if there is no file.
///
/// # Errors
/// An I/O error.
pub fn text(path: &Path) -> Result<String, Stop> {
    let text = atomic::read_text(path).map_err(broken("could not read a file"))?;
    Ok(text.unwrap_or_default())
}

/// A value's text; a string without its quotes.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
