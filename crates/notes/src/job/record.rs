//! The content of `jobs/<job>/job.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::compaction::EntryId;
use crate::seal::Ages;
use base::clock::Time;

/// A job's record. Without a `job.json` the defaults hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// Its state.
    pub state: State,
    /// Whether the guard chose the name. The first `focus` on a new name renames such a job.
    pub auto: bool,
    /// When it was created.
    pub created: Option<Time>,
    /// Who works on it. `guard::files::jobs` checks whether that session still lives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<Holder>,
    /// The session that paused it. While that session continues, the work is still in its
    /// conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_by: Option<String>,
    /// The open phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The finished phases, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PastPhase>,
    /// The job's own coaching by phase name. `*` means any phase.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub coaching: BTreeMap<String, String>,
    /// The last summary that a seal added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summed>,
    /// The session that last sealed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealer: Option<Sealer>,
    /// Age and reference count of each entry in the last sealed file.
    #[serde(skip_serializing_if = "Ages::is_empty")]
    pub entries: Ages,
    /// Its sessions in order, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<Link>,
}

/// The state of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Open for work.
    #[default]
    Active,
    /// Set aside by `pause`. Its file does not change.
    Paused,
    /// Closed, with a sealed file.
    Completed,
}

/// A client process. The start time protects against a reused process id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// Process id.
    pub pid: u32,
    /// Start time ([`base::process::start_time`]).
    pub start: u64,
}

/// The session that works on a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its id when it took the job. `/clear` changes the id but keeps the process.
    pub session: String,
    /// Its client. `None` if the hooks never saw one, and then it holds nothing.
    pub client: Option<Client>,
}

impl Holder {
    /// Whether both are the same session or belong to the same client.
    pub fn is_same_worker(&self, other: &Self) -> bool {
        self.session == other.session || (self.client.is_some() && self.client == other.client)
    }
}

/// A stage of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Phase {
    /// Its name, free.
    pub name: String,
    /// The coaching told on entry, and again to every session that starts in it.
    pub coach: String,
    /// When it was entered.
    pub entered: Option<Time>,
    /// The session that entered it.
    pub session: String,
    /// Entries that were in the file before. All others belong to the phase.
    pub had: Vec<EntryId>,
    /// Entries it had written at a seal, because the seal may fold them away.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wrote: Vec<Wrote>,
    /// Whether the guard coached the agent during the phase.
    pub coached: bool,
}

/// An entry of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrote {
    /// The name of its section.
    pub section: String,
    /// Its text, with flags.
    pub text: String,
}

/// A finished phase.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PastPhase {
    /// Its name.
    pub name: String,
    /// When it was entered.
    pub entered: Option<Time>,
    /// When it was left.
    pub left: Option<Time>,
}

/// A summary that a seal added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summed {
    /// The session that added it.
    pub session: String,
    /// The first version that contains it.
    pub version: u64,
}

/// The session that last sealed a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealer {
    /// Its id.
    pub session: String,
    /// Its number among the job's sealing sessions, counted from 1.
    pub ordinal: u32,
}

impl Record {
    /// The number that this session has, or would get by sealing.
    pub fn ordinal(&self, session: &str) -> u32 {
        match &self.sealer {
            None => 1,
            Some(last) if last.session == session => last.ordinal,
            Some(last) => last.ordinal.saturating_add(1),
        }
    }
}

/// One step from session to session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The session that ended.
    pub from: String,
    /// The session that began.
    pub to: String,
    /// The delivered sealed version. `None` if the live file or nothing was delivered.
    pub version: Option<u64>,
    /// When.
    pub at: Time,
}

/// Most letters of a phase's coaching. Every session that starts in the phase gets it again.
pub const COACH_LETTERS: usize = 2000;

/// Why a text cannot be a phase's name. The message says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPhaseName {
    /// It is empty, has too many letters (this count), or a control character.
    #[error("a phase's name is one line of 1 to {NAME_LETTERS} letters; this has {0}")]
    Letters(usize),
    /// It has several lines.
    #[error("a phase's name is one line; put what it is about into --coach")]
    Lines,
}

/// Normalizes the white space of a phase's name, and checks it.
pub fn phase_name(text: &str) -> Result<String, InvalidPhaseName> {
    let words: Vec<_> = text.split_whitespace().collect();
    let name = words.join(" ");
    let letters = name.chars().count();
    if letters == 0 || letters > NAME_LETTERS || name.chars().any(char::is_control) {
        return Err(InvalidPhaseName::Letters(letters));
    }
    if text.trim().contains(['\n', '\r']) {
        return Err(InvalidPhaseName::Lines);
    }
    Ok(name)
}

/// Most letters of a phase's name.
pub const NAME_LETTERS: usize = 60;
