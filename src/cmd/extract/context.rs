//! `extract context`.

use std::path::PathBuf;

use serde::Serialize;

use crate::clock::Time;
use crate::cmd::Exit;
use crate::env::Env;

/// A value of an entry that is extracted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// Its key.
    pub key: String,
    /// Bytes of its JSON.
    pub bytes: u64,
}

/// An entry of which something is extracted: its placeholders live.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lean {
    /// Its id.
    pub entry_id: String,
    /// The tool, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What of it is extracted.
    pub values: Vec<Part>,
    /// When it was.
    pub extracted_at: Time,
    /// When it was restored last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored_at: Option<Time>,
}

/// What is extracted of a session (seed 001, `get_context`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Context {
    /// Its id.
    pub session: String,
    /// Its agent.
    pub agent: String,
    /// Its file.
    pub file: PathBuf,
    /// Entries there are.
    pub entries: u64,
    /// Messages of the conversation among them.
    pub messages: u64,
    /// What of them is extracted, in the order of the rows.
    pub extracted: Vec<Lean>,
}

/// What is extracted of a session.
///
/// # Errors
/// A session that can't be found or read.
pub fn of(_env: &Env, _session: &str) -> anyhow::Result<Context> {
    todo!()
}

/// Runs the verb.
///
/// # Errors
/// What keeps it from being done.
pub fn run(_env: &Env, _session: &str, _json: bool) -> anyhow::Result<Exit> {
    todo!()
}
