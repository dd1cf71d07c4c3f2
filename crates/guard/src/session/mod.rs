//! The saved state of a session: plain data that the store keeps and the hook decides by.

mod activity;
pub mod reach;
mod surroundings;

use serde::{Deserialize, Serialize};

use crate::boundary::Client;
use crate::policy::coach::Told;
use crate::policy::limit::{ClientLimit, Configured, Launch};
use crate::policy::stance::{Cap, Ranks};
use crate::settings::sources::Texts;
use base::clock::Time;
use notes::compaction::EntryId;
use reach::Reach;
use sessions::gauge::{Reading, Window};

pub use activity::Activity;
pub use surroundings::Surroundings;

/// The saved state of one session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// The job whose compaction file this session writes.
    pub job: String,
    /// The conversation still contains an earlier named job.
    pub residue: bool,
    /// When the guard first saw it.
    pub started: Option<Time>,
    /// The commit that was checked out then, if there was one.
    pub start_commit: Option<String>,
    /// The session before it, if it continues one.
    pub parent: Option<String>,
    /// The model, if an event named it.
    pub model: Option<String>,
    /// A rule of the client's settings that keeps the agent from its notes.
    pub refusing: Option<Refusing>,
    /// The client's process.
    pub client: Option<Client>,
    /// The folder of the plugin whose hooks run in it.
    pub plugin: Option<String>,
    /// The client as the hooks last saw it.
    pub seen: Option<Surroundings>,
    /// The terminals around the client.
    pub reach: Option<Reach>,
    /// When the running turn of the main loop started.
    pub turn: Option<Time>,
    /// When the last turn ended.
    pub over: Option<Time>,
    /// When an API error ended the last turn.
    pub broke: Option<Time>,
    /// Tokens that the first request of a resumed session reads without the prompt cache.
    pub uncached: Option<u64>,
    /// The dialog that the client shows, since when, and its text.
    pub dialog: Option<(Time, String)>,
    /// When it ended: the client exited or moved to another session.
    pub ended: Option<Time>,
    /// Whether a person's prompt started the running turn.
    pub asked: bool,
    /// The number of prompts, from anyone.
    pub prompts: u64,
    /// The transcript's path, as the client last gave it.
    pub transcript: Option<String>,
    /// What the first reading determines.
    pub first: First,
    /// Tokens in the context from the start. The ramp moves up by their share of the limit. They
    /// are saved as tokens because the limit may become known later.
    pub base_tokens: u64,
    /// Bytes of the first prompt and the delivery. They do not count as base.
    pub first_bytes: u64,
    /// Coach only until this is exceeded.
    pub grace: Option<Grace>,
    /// The ranks on both gauges, for the hysteresis.
    pub ranks: Ranks,
    /// The settings files as a person last agreed to them.
    pub settings: Option<Texts>,
    /// Refused turn ends in a row.
    pub stop_blocks: u32,
    /// When a person last submitted a prompt.
    pub last_human: Option<Time>,
    /// When somebody last changed the prompt box while a boundary waited.
    pub typed: Option<Time>,
    /// The boundary that this session ends in or came from.
    pub token: Option<String>,
    /// The job that the session was offered when it began.
    pub offered: Option<String>,
    /// Until when blocks are lifted, and why.
    pub lifted: Option<(Time, Cap)>,
    /// The last saved reading.
    pub reading: Option<Reading>,
    /// When a call was last denied.
    pub denied: Option<Time>,
    /// The operator's override.
    #[serde(rename = "override")]
    pub override_: Option<Override>,
    /// The last working directory of the agent's shell.
    pub cwd: Option<String>,
    /// The permission mode of the last event.
    pub mode: Option<String>,
    /// What is known of the context limit.
    pub limits: KnownLimits,
    /// What the agent and the user were last told, so that nothing is repeated.
    pub notified: Notified,
    /// The compaction file, as this session knows it.
    pub notes: NotesState,
    /// The sessions around it that surgery made.
    pub surgery: SurgeryLinks,
    /// What runs in the background.
    pub background: Background,
}

impl Session {
    /// The base in percent of a limit.
    pub fn base_percent(&self, limit: u64) -> f64 {
        self.base_tokens as f64 * 100.0 / limit.max(1) as f64
    }

    /// Whether the operator's override is active.
    pub fn overridden(&self, now: Time, calls: impl FnOnce() -> u64) -> bool {
        match &self.override_ {
            None => false,
            Some(Override::Until(at)) => now < *at,
            Some(Override::Calls(end)) => calls() < *end,
            Some(Override::UntilClear) => true,
        }
    }
}

/// What is known of the context limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KnownLimits {
    /// The window the client last reported.
    pub reported_window: Option<u64>,
    /// The limit the client last reported.
    pub reported_limit: Option<ClientLimit>,
    /// The limit options on the client's command line.
    pub launch: Option<Launch>,
    /// The limit by the command line and the client's settings.
    pub configured: Configured,
    /// Responses without token counts, while none had any.
    pub uncounted: u32,
    /// The window of that reading.
    pub window: Option<Window>,
}

/// What the agent and the user were last told, so that nothing is repeated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Notified {
    /// The last note to the agent.
    pub agent: Told,
    /// The rank that the user was last told, and whether it was capped.
    pub user: Option<(usize, bool)>,
    /// Whether the user was told what a resumed session costs without the prompt cache.
    pub uncached: bool,
    /// Tokens that surgery would free, as the user was told; 0 if it was not known.
    pub slim_tokens: Option<u64>,
    /// The rank whose denial was last explained in full.
    pub denial: Option<usize>,
    /// The version of those files that the user was last told about.
    pub settings: Option<String>,
    /// The end of lifted blocks that the user was told.
    pub lifted: Option<Time>,
    /// What the session needs the user for, as they were told while they were away.
    pub need: Option<Activity>,
}

/// The compaction file, as this session knows it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotesState {
    /// Entries that were in the file before this session.
    pub inherited: Vec<EntryId>,
    /// Words of the file when this session started on it.
    pub born_words: u64,
    /// Whether another session went on from them.
    pub handed_on: bool,
    /// The cached word count of the file.
    pub counted: Option<Counted>,
    /// The sealed file, if it did not arrive complete.
    pub missing: Option<String>,
    /// What the seal last asked the agent.
    pub seal_asked: Option<SealAsked>,
    /// When a verb last failed to write the notes, and the system's error.
    pub unwritten: Option<(Time, String)>,
}

/// The sessions around it that surgery made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SurgeryLinks {
    /// The session that surgery in this client made this one of.
    pub made_of: Option<String>,
    /// The session that this client was in before, if surgery or its undo led here.
    pub entered_from: Option<String>,
    /// The operation and the id of a session that was made of this one outside of its client, until
    /// the user is told.
    pub made_outside: Option<(String, String)>,
}

/// What runs in the background.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Background {
    /// Background agents that ran when the last turn ended.
    pub agents: u32,
    /// Background shells that outlive `/clear`.
    pub shells: Vec<String>,
}

/// A rule of the client's settings that keeps the agent from its notes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusing {
    /// The list, the rule and the file.
    pub rule: String,
    /// Whether the user knows.
    pub told: bool,
}

/// What the seal asked the agent. It asks each question once per version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealAsked {
    /// The job.
    pub job: String,
    /// The file's version at that time. A killed seal does not change it.
    pub version: u64,
    /// Whether it asked for the next step.
    pub next_step: bool,
    /// Whether it said that the notes say little.
    pub little: bool,
    /// The entries it asked to condense.
    pub condense: Vec<EntryId>,
}

/// How long the operator keeps everything unblocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Override {
    /// Until this time.
    Until(Time),
    /// Until the session has made this many calls.
    Calls(u64),
    /// Until the session is cleared.
    UntilClear,
}

/// What the first reading of a session determines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum First {
    /// Nothing: it was already read.
    #[default]
    Done,
    /// The base, because the session started empty (startup, clear).
    Base,
    /// A grace period, because it was full before we saw it (resume, fork, compaction,
    /// mid-session).
    Grace,
}

/// Coach only, until the usage grows or the session makes enough calls.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Grace {
    /// Percent at which it ends.
    pub percent: f64,
    /// Calls at which it ends.
    pub calls: u64,
}

/// A word count, valid for one file time and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Modification time, nanoseconds.
    pub modified: i64,
    /// Bytes.
    pub size: u64,
    /// Words.
    pub words: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_follows_a_limit_that_becomes_known_later() {
        let session = Session { base_tokens: 48_350, ..Session::default() };
        assert!((session.base_percent(167_000) - 28.95).abs() < 0.01);
        assert!((session.base_percent(967_000) - 5.0).abs() < 0.01);
        assert!(session.base_percent(0).is_finite());
    }
}
