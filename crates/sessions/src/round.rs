//! Rounds: a user's message and all until the next one. Rounds count from 1; round 0 is what
//! stands before the first.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::dialect::{Kind, Row};
use base::clock::Time;

/// Tells which round each row belongs to, fed in the file's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rounds {
    /// The round of the last row.
    pub seq: u32,
    /// A compaction began this round, and its summary is still to come.
    pub summary_due: bool,
    /// Whether the file is a subagent's own, as its first row in the chain tells.
    subagent: Option<bool>,
}

impl Rounds {
    /// The round that this row belongs to.
    pub fn place(&mut self, row: &Row) -> u32 {
        if self.subagent.is_none() && row.id.is_some() {
            self.subagent = Some(row.sidechain);
        }
        match row.kind {
            _ if self.beside(row) => {}
            Kind::Boundary => {
                self.seq += 1;
                self.summary_due = true;
            }
            Kind::Summary if self.summary_due => self.summary_due = false,
            Kind::Prompt | Kind::Summary => {
                self.seq += 1;
                self.summary_due = false;
            }
            _ => {}
        }
        self.seq
    }

    /// Whether a row is a subagent's in a file of the main loop, as older clients wrote them:
    /// it belongs to the round, and is no part of its conversation.
    pub fn beside(&self, row: &Row) -> bool {
        row.sidechain && self.subagent == Some(false)
    }
}

/// What is known of a round without its rows: what the index holds, and what surgery is
/// planned by.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Round {
    /// Its number in the session, from 1.
    pub seq: u32,
    /// Time of its first and its last row that has one.
    pub started: Option<Time>,
    /// Time of its last row that has one.
    pub ended: Option<Time>,
    /// Who speaks in it.
    pub user: bool,
    /// Whether the agent answered.
    pub assistant: bool,
    /// The beginning of the user's words on one line: [`PREVIEW`] characters, and `...` where
    /// there is more. Of a compaction, of its summary.
    pub user_preview: String,
    /// The beginning of the agent's last text, likewise.
    pub agent_preview: String,
    /// The tool call that says most of the round: `Agent·Read console`.
    pub key_tool: Option<String>,
    /// Tool calls by name.
    pub tools: BTreeMap<String, u32>,
    /// Files that tool calls named.
    pub files: BTreeSet<String>,
    /// Tokens it brought into the context: measured by the session's usage rows where
    /// [`Round::measured`], else estimated from its bytes.
    pub tokens: u64,
    /// Whether `tokens` is measured.
    pub measured: bool,
    /// Rows of its own.
    pub rows: u32,
    /// Bytes of its rows.
    pub bytes: u64,
    /// The round that its first row hangs on: the one before, unless the session was rewound.
    pub follows: Option<u32>,
    /// A compaction begins it: what lies before is no longer in the context.
    pub boundary: bool,
    /// Id of its first row in the chain.
    pub first_id: Option<String>,
    /// A digest of the first message of the user in it, whole: previews of different rounds may
    /// be alike, as those of index tables are.
    pub said: Option<String>,
    /// The engagement it is tagged with.
    pub engagement: Option<String>,
}

/// Characters of a preview in the index table.
pub const PREVIEW: usize = 80;

/// The words of a round, for the search.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Words {
    /// What the user said.
    pub user: String,
    /// What the agent said.
    pub agent: String,
}

/// A session as surgery sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// Who ran it: `claude`, or a subagent's type.
    pub agent: String,
    /// Its dialect's name.
    pub dialect: String,
    /// The folder it ran in, as its rows say.
    pub cwd: Option<String>,
    /// The file it was read from.
    pub source: Option<String>,
    /// Time of its first row that has one.
    pub started: Option<Time>,
    /// Time of its last row that has one.
    pub ended: Option<Time>,
    /// The session it was made from.
    pub parent: Option<String>,
    /// Its rounds, in order, from round 1.
    pub rounds: Vec<Round>,
}

impl Session {
    /// The round of that number.
    pub fn round(&self, seq: u32) -> Option<&Round> {
        let at = self.rounds.binary_search_by_key(&seq, |round| round.seq).ok()?;
        self.rounds.get(at)
    }
}
