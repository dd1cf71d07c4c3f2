//! What is remembered about a session: plain data, which the store keeps and the hook decides by.

pub mod reach;
mod surroundings;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::boundary::Client;
use crate::compaction::EntryId;
use crate::policy::coach::Told;
use crate::policy::limit::{ClientLimit, Configured, Launch};
use crate::policy::stance::Ranks;
use base::clock::Time;
use reach::Reach;
use sessions::gauge::{Reading, Window};

pub use surroundings::Surroundings;

/// Everything remembered about one session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// The job whose file this session writes.
    pub job: String,
    /// It worked on a named job before this one, which is still in the conversation.
    pub residue: bool,
    /// When it was first seen.
    pub started: Option<Time>,
    /// The session it was carried over from.
    pub parent: Option<String>,
    /// The model, where an event named it.
    pub model: Option<String>,
    /// The window the client last reported.
    pub reported_window: Option<u64>,
    /// The limit the client last reported.
    pub reported_limit: Option<ClientLimit>,
    /// What the client's command line says of its limit.
    pub launch: Option<Launch>,
    /// What the command line and the client's settings say of its limit.
    pub configured: Configured,
    /// Responses without token counts, as long as none had any.
    pub uncounted: u32,
    /// The client's process.
    pub client: Option<Client>,
    /// The client as the hooks saw it last.
    pub seen: Option<Surroundings>,
    /// The terminals around the client.
    pub reach: Option<Reach>,
    /// The main loop's turn, while one runs.
    pub turn: Option<Time>,
    /// When the last turn ended by an error of the API.
    pub broke: Option<Time>,
    /// When it ended: the client went on to another one, or ended itself.
    pub ended: Option<Time>,
    /// A person's prompt began the turn that runs.
    pub asked: bool,
    /// Prompts of this session, by whomever.
    pub prompts: u64,
    /// The transcript's path as last given.
    pub transcript: Option<String>,
    /// What the first reading is to settle.
    pub first: First,
    /// Tokens that were there from the start; the ramp moves up by their part of
    /// the limit. Not kept as that part: the limit may become known only later.
    pub base_tokens: u64,
    /// Bytes of the user's first prompt and of our delivery, no part of the base.
    pub first_bytes: u64,
    /// Coach only until these are passed.
    pub grace: Option<Grace>,
    /// Ranks on the two gauges, for the hysteresis.
    pub ranks: Ranks,
    /// The last note to the agent.
    pub told: Told,
    /// The rank the user was last told of, and whether it was capped.
    pub told_user: Option<(usize, bool)>,
    /// The rank whose denial was told in full last.
    pub denied_at: Option<usize>,
    /// Turn ends we refused in a row.
    pub stop_blocks: u32,
    /// The last prompt by a person.
    pub last_human: Option<Time>,
    /// Entries of the file that this session found there.
    pub inherited: Vec<EntryId>,
    /// Words of the file at its last birth.
    pub born_words: u64,
    /// Words of the file by its time and size.
    pub counted: Option<Counted>,
    /// The boundary this session ends in or came from.
    pub token: Option<String>,
    /// The sealed file, where it was found not to have arrived whole.
    pub missing: Option<String>,
    /// What the seal last asked the agent.
    pub seal_asked: Option<SealAsked>,
    /// When a verb of ours last failed to write the notes, and what the system said.
    pub unwritten: Option<(Time, String)>,
    /// Paths in the checkout that the user was told are not used.
    pub refused: Vec<PathBuf>,
    /// Blocks are lifted until then, and why.
    pub lifted: Option<(Time, String)>,
    /// The last reading and window that were written down.
    pub reading: Option<Reading>,
    /// The window then.
    pub window: Option<Window>,
    /// The last call that was denied.
    pub denied: Option<Denied>,
    /// Background agents still ran when the last turn ended.
    pub agents: u32,
    /// Background shells that outlive `/clear`.
    pub shells: Vec<String>,
    /// The operator's override.
    #[serde(rename = "override")]
    pub override_: Option<Override>,
    /// Where the agent's shell stood last.
    pub cwd: Option<String>,
    /// Permission mode of the last event.
    pub mode: Option<String>,
}

impl Session {
    /// What was full from the start, in percent of a limit.
    pub fn base_percent(&self, limit: u64) -> f64 {
        self.base_tokens as f64 * 100.0 / limit.max(1) as f64
    }

    /// Whether the operator's override stands.
    pub fn overridden(&self, now: Time, calls: impl FnOnce() -> u64) -> bool {
        match &self.override_ {
            None => false,
            Some(Override::Until(at)) => now < *at,
            Some(Override::Calls(end)) => calls() < *end,
            Some(Override::UntilClear) => true,
        }
    }
}

/// What the seal asked the agent: each question once a version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealAsked {
    /// The job.
    pub job: String,
    /// The version that the file had: a seal that is killed leaves it as it was.
    pub version: u64,
    /// It asked for the next step.
    pub next_step: bool,
    /// The entries that it asked to condense.
    pub condense: Vec<EntryId>,
}

/// How long nothing is blocked, by the operator's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Override {
    /// Until then.
    Until(Time),
    /// Until the session's count of calls reaches this.
    Calls(u64),
    /// Until the session is cleared.
    UntilClear,
}

/// What the first reading of a session is to settle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum First {
    /// Nothing: it was read.
    #[default]
    Done,
    /// The base: the session began empty (startup, clear).
    Base,
    /// A period of grace: it was full before we saw it (resume, fork, compaction, mid-session).
    Grace,
}

/// Coach only until the figure has grown or so many calls were made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Grace {
    /// Percent at which it ends.
    pub percent: f64,
    /// Calls at which it ends.
    pub calls: u64,
}

/// A counted file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Modification time, nanoseconds.
    pub modified: i64,
    /// Bytes.
    pub size: u64,
    /// Words.
    pub words: u64,
}

/// A call that was denied, for `explain`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Denied {
    /// When.
    pub at: Time,
    /// The tool.
    pub tool: String,
    /// What the agent was told.
    pub reason: String,
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
