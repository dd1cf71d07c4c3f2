//! What `jobs/<job>/job.json` holds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::boundary::Client;
use crate::compaction::EntryId;
use crate::seal::Ages;
use base::clock::Time;
use base::plain;

/// A job beside its compaction file. One without a `job.json` is as the default says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// Where it stands.
    pub state: State,
    /// Named by the guard, not by anybody: the first `focus` of a new name takes it over.
    pub auto: bool,
    /// When it was created.
    pub created: Option<Time>,
    /// Who works on it. Whether that one still lives is `store::jobs`' to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<Holder>,
    /// The session that put it aside; while that one goes on, the thread is still there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_by: Option<String>,
    /// The phase it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The phases it left, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PastPhase>,
    /// Coaching of this job's own, by phase name; `*` for any phase.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub coaching: BTreeMap<String, String>,
    /// The last summary that was sealed into it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summed>,
    /// The session that sealed it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sealer: Option<Sealer>,
    /// How old each entry of the last sealed file was, and how often referred to.
    #[serde(skip_serializing_if = "Ages::is_empty")]
    pub entries: Ages,
    /// Its way from session to session, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<Link>,
}

/// Where a job stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Worked on, or free to be.
    #[default]
    Active,
    /// Put aside by a `pause`; its file stays as it is.
    Paused,
    /// Closed, with a sealed file.
    Completed,
}

/// The session that works on a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its id when it took the job; `/clear` changes the id and keeps the process.
    pub session: String,
    /// Its client; `None` where the hooks never saw one, and then it holds nothing.
    pub client: Option<Client>,
}

impl Holder {
    /// Whether both are one: the same session, or another one of the same client.
    pub fn is(&self, other: &Self) -> bool {
        self.session == other.session || (self.client.is_some() && self.client == other.client)
    }
}

/// A stage of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Phase {
    /// Its name, free.
    pub name: String,
    /// What the agent was told as it entered; told again to every session that wakes up in it.
    pub coach: String,
    /// When it was entered.
    pub entered: Option<Time>,
    /// By which session.
    pub session: String,
    /// The entries that stood in the file then: what is not among them was written in the phase.
    pub had: Vec<EntryId>,
    /// What it had written when the file was sealed: the seal may fold it away.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wrote: Vec<Wrote>,
    /// The guard's own coaching spoke up while it lasted.
    pub coached: bool,
}

/// An entry of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrote {
    /// The section it stood in, by name.
    pub section: String,
    /// Its text, with flags.
    pub text: String,
}

/// A phase that was left.
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

/// A summary that a seal took in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summed {
    /// By which session.
    pub session: String,
    /// The version it was first sealed in.
    pub version: u64,
}

/// A session that seals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealer {
    /// Its id.
    pub session: String,
    /// Which one of the job's it is, counted from 1.
    pub ordinal: u32,
}

impl Record {
    /// The record with its texts as a verb would have written them: a checkout may bring any.
    pub fn into_plain(mut self) -> Self {
        let name = |name: &str| phase_name(name).unwrap_or_else(|_| "unnamed".to_owned());
        let coach = |text: &str| plain::block(text, COACH_LETTERS);
        if let Some(phase) = &mut self.phase {
            (phase.name, phase.coach) = (name(&phase.name), coach(&phase.coach));
        }
        for past in &mut self.phases {
            past.name = name(&past.name);
        }
        let coaching = std::mem::take(&mut self.coaching);
        self.coaching = coaching.iter().map(|(key, text)| (name(key), coach(text))).collect();
        let id = |id: &str| id.len() <= 128 && id.chars().all(|c| c.is_ascii_graphic());
        self.holder = self.holder.filter(|holder| id(&holder.session));
        self.lineage.retain(|link| id(&link.from) && id(&link.to));
        self
    }

    /// Which one of the job's sessions seals, if this one does.
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
    /// The sealed version that crossed; `None` where the live file did, or nothing.
    pub version: Option<u64>,
    /// When.
    pub at: Time,
}

/// Letters a phase's coaching may have: every session that wakes up in the phase hears it again.
pub const COACH_LETTERS: usize = 2000;

/// Why a text cannot be a phase's name. The message says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPhaseName {
    /// It has this many letters, or a control character.
    #[error("a phase's name is one line of 1 to {NAME_LETTERS} letters; this has {0}")]
    Letters(usize),
    /// It has several lines.
    #[error("a phase's name is one line; put what it is about into --coach")]
    Lines,
}

/// A phase's name as it is kept: white space evened out.
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

/// Letters a phase's name may have.
pub const NAME_LETTERS: usize = 60;
