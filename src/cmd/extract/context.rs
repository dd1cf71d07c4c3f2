//! `extract context`.

use base::shown::size;
use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::long::{self, Long};
use super::placeholder_lookup;
use super::read::{self, Read};
use super::source::{self, Kind, Source};
use super::{extractable_flag, view};
use crate::cmd::{err, import};
use base::clock::Time;
use base::env::Env;
use base::shown::local_minute;
use extract::entry::Role;
use sessions::settings::ExtractSettings;

/// An extracted value of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// Its key.
    pub key: String,
    /// Length of its JSON.
    pub bytes: u64,
    /// `thinking`, `tool_result`, …
    pub trigger: String,
}

/// An entry with live placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lean {
    /// Its id.
    pub entry_id: String,
    /// The tool, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Its extracted values.
    pub values: Vec<Part>,
    /// When they were extracted.
    pub extracted_at: Time,
    /// When it was last restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored_at: Option<Time>,
    /// Whether its placeholders are sent to the model.
    pub in_context: bool,
}

/// An entry whose `_extractable` is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    /// Its id.
    pub entry_id: String,
    /// true, false, or a number of messages.
    pub extractable: Value,
}

/// What is extracted from a session (seed 001, `get_context`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Context {
    /// Its id.
    pub session: String,
    /// Its agent.
    pub agent: String,
    /// The format of the session.
    pub kind: Kind,
    /// Its file; for a database, `FILE:ID`.
    pub file: PathBuf,
    /// The number of entries.
    pub entries: u64,
    /// How many of them are messages.
    pub messages: u64,
    /// The entries with extracted values, in row order.
    pub extracted: Vec<Lean>,
    /// Total bytes of the extracted values.
    pub extracted_bytes: u64,
    /// Rows that contain what looks like a placeholder but is in no ledger.
    pub unknown: u64,
    /// The entries with a flag, set in their row or in the ledger.
    pub said: Vec<Said>,
    /// The last entries in the context with long values: candidates for the next extraction.
    pub long: Vec<Long>,
}

/// Lists what is extracted from a session.
///
/// # Errors
/// A session that cannot be found or read.
pub fn load(env: &Env, session: Option<&str>) -> anyhow::Result<Context> {
    let source = source::find(env, &import::root(env)?, session)?;
    load_from(&source, &source::settings(env))
}

/// Lists what is extracted from a session that was found.
///
/// # Errors
/// A session that cannot be read.
pub fn load_from(source: &Source, settings: &ExtractSettings) -> anyhow::Result<Context> {
    let read = read::session(source)?;
    read.doubt.tell();
    if let Some(said) = read.unknown(source) {
        err(said);
    }
    let messages = read.entries.iter().filter(|e| e.role != Role::None && !e.continues).count();
    let extracted = lean(&read);
    let parts = extracted.iter().flat_map(|lean| &lean.values);
    Ok(Context {
        session: source.session.clone(),
        agent: source.agent.clone(),
        kind: source.kind,
        file: source.place(),
        entries: read.entries.len() as u64,
        messages: messages as u64,
        extracted_bytes: parts.map(|part| part.bytes).sum(),
        extracted,
        unknown: read.unknown,
        said: flagged_entries(&read),
        long: long::last(source, &read, settings)?,
    })
}

fn flagged_entries(read: &Read) -> Vec<Said> {
    let says = read.entries.iter().filter(|entry| entry.extractable.is_some());
    let of = |entry_id: &String, extractable| Said { entry_id: entry_id.clone(), extractable };
    says.map(|entry| of(&entry.id, extractable_flag::to_json(entry.extractable))).collect()
}

fn lean(read: &Read) -> Vec<Lean> {
    let of_row = |live: &[placeholder_lookup::Live]| {
        let first = live.first()?;
        let entry = read.entry(first.row);
        let marked = entry.and_then(|entry| entry.restored);
        let part = |live: &placeholder_lookup::Live| Part {
            key: live.key.to_string(),
            bytes: live.bytes,
            trigger: live.trigger.to_string(),
        };
        Some(Lean {
            entry_id: first.entry.to_string(),
            tool: live.iter().find_map(|live| live.tool.as_ref()).map(ToString::to_string),
            values: live.iter().map(part).collect(),
            extracted_at: live.iter().map(|live| live.at).max()?,
            restored_at: marked.max(read.ledger.last_restored(&first.entry)),
            in_context: entry.is_some_and(|entry| entry.in_context),
        })
    };
    read.live.chunk_by(|a, b| (a.row, &a.entry) == (b.row, &b.entry)).filter_map(of_row).collect()
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = view::Place {
            kind: self.kind,
            agent: &self.agent,
            session: &self.session,
            file: &self.file,
        };
        f.write_str(&place.headline(self.entries, self.messages))?;
        for Said { entry_id, extractable } in &self.said {
            write!(f, "\nflag of {entry_id}: _extractable = {extractable}")?;
        }
        if self.extracted.is_empty() {
            return f.write_str("\nnothing of it is extracted");
        }
        let entries = view::of_entries(self.extracted.len());
        write!(f, "\nextracted: {} of {entries}", size(self.extracted_bytes))?;
        for lean in &self.extracted {
            let parts = lean.values.iter();
            let parts: Vec<String> =
                parts.map(|part| format!("{} ({})", part.key, size(part.bytes))).collect();
            let tool = lean.tool.as_ref().map_or_else(String::new, |tool| format!(" of {tool}"));
            let restored = lean
                .restored_at
                .map_or_else(String::new, |at| format!(", restored {}", local_minute(Some(at))));
            let away = if lean.in_context { "" } else { ", not in the context" };
            write!(
                f,
                "\n  {}{tool}: {}; {}{restored}{away}",
                lean.entry_id,
                parts.join(", "),
                local_minute(Some(lean.extracted_at)),
            )?;
        }
        Ok(())
    }
}
