//! Rounds: one user message and everything up to the next one. Rounds count from 1; round 0 is what
//! comes before the first.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::dialect::{Kind, Row};
use super::origin::{Named, Origin};
use super::sent::{Standing, State};
use base::clock::Time;

/// Assigns rows to rounds; takes them in file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rounds {
    /// The round of the last row.
    pub seq: u32,
    /// A compaction started this round, and its summary is still to come.
    pub summary_due: bool,
    /// The first round has only words of the client so far, such as an echo of `/clear`. The first
    /// prompt is part of it.
    #[serde(default)]
    opening: bool,
    /// Whether the file is a subagent's own; its first row in the chain decides.
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
                (self.summary_due, self.opening) = (true, false);
            }
            Kind::Summary if self.summary_due => self.summary_due = false,
            Kind::Prompt if self.opening => self.opening = false,
            Kind::Prompt | Kind::Summary => {
                self.seq += 1;
                (self.summary_due, self.opening) = (false, false);
            }
            // The agent may answer a notification before anybody says something.
            Kind::Notice if self.seq == 0 => (self.seq, self.opening) = (1, true),
            Kind::Assistant => self.opening = false,
            _ => {}
        }
        self.seq
    }

    /// Whether a row is a subagent's in a main-loop file, as older clients wrote them. It belongs
    /// to the round, but not to its conversation.
    pub fn beside(&self, row: &Row) -> bool {
        row.sidechain && self.subagent == Some(false)
    }
}

/// What the index holds of a round, without its rows; surgery plans with it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Round {
    /// Its number in the session, from 1.
    pub seq: u32,
    /// Time of its first row that has one.
    pub started: Option<Time>,
    /// Time of its last row that has one.
    pub ended: Option<Time>,
    /// Whether the user speaks in it.
    pub user: bool,
    /// Whether the agent answered.
    pub assistant: bool,
    /// The start of the user's words on one line: [`PREVIEW`] characters, then `...` if there is
    /// more. For a compaction, the start of its summary.
    pub user_preview: String,
    /// The start of the agent's last text, in the same form.
    pub agent_preview: String,
    /// The tool call that says most about the round: `Agent·Read console`.
    pub key_tool: Option<String>,
    /// Tool calls by name.
    pub tools: BTreeMap<String, u32>,
    /// Files that tool calls named.
    pub files: BTreeSet<String>,
    /// Tokens it added to the context: measured by usage rows if [`Round::measured`], else
    /// estimated from its bytes.
    pub tokens: u64,
    /// Whether `tokens` is measured.
    pub measured: bool,
    /// How many rows it has.
    pub rows: u32,
    /// Bytes of its rows.
    pub bytes: u64,
    /// A compaction starts it.
    pub boundary: bool,
    /// How it stands to the next request.
    pub standing: Standing,
    /// Id of its first row in the chain.
    pub first_id: Option<String>,
    /// Id of its last message.
    pub last_id: Option<String>,
    /// The round that it is a copy of, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The session and row that its first row was copied from, which leads to the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied: Option<(String, String)>,
    /// Whether part of it was removed when it was copied.
    #[serde(default, skip_serializing_if = "is_false")]
    pub less: bool,
    /// Whether the agent went on in it after it was copied.
    #[serde(default, skip_serializing_if = "is_false")]
    pub more: bool,
    /// If surgery wrote it: the rounds that its index table names. Empty for another message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<Vec<Named>>,
    /// The engagement it is tagged with.
    pub engagement: Option<String>,
}

impl Round {
    /// Whether the client sends it.
    pub fn is_sent(&self) -> bool {
        self.standing.state == State::InContext
    }

    /// Whether it can belong to an engagement: it is no index table, and not only the summary of a
    /// compaction or a copy of one.
    pub fn is_work(&self) -> bool {
        let is_summary = (self.boundary || self.less) && !self.assistant;
        self.table.is_none() && !is_summary
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Characters of a preview in the index table.
pub const PREVIEW: usize = 80;

/// The words of a round, for search.
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
    /// The model of its last answer.
    pub model: Option<String>,
    /// The folder it ran in, by its rows.
    pub cwd: Option<String>,
    /// The file it was read from.
    pub source: Option<String>,
    /// Time of its first row that has one.
    pub started: Option<Time>,
    /// Time of its last row that has one.
    pub ended: Option<Time>,
    /// The session it was made from.
    pub parent: Option<String>,
    /// What the context holds beside the rounds (system prompt, tools), in tokens, if known.
    pub base: Option<u64>,
    /// What the context held after the last response, in tokens, if one of its own was measured.
    pub used: Option<u64>,
    /// The line, from 1, whose parent is not in the file, so that the client sends nothing before it.
    pub cut: Option<u64>,
    /// Its rounds, in order, from round 1.
    pub rounds: Vec<Round>,
}

impl Session {
    /// The origin of one of its rounds: where it was copied from, else its own place.
    pub fn origin(&self, round: &Round) -> Origin {
        let own = || Origin { session: self.id.clone(), seq: round.seq };
        round.origin.clone().unwrap_or_else(own)
    }

    /// The rounds there are, in words: `it has rounds 1-15`.
    pub fn describe_rounds(&self) -> String {
        match (self.rounds.first(), self.rounds.last()) {
            (Some(first), Some(last)) => format!("it has rounds {}-{}", first.seq, last.seq),
            _ => "it has none".to_owned(),
        }
    }

    /// The rounds in the context, in the order of the next request.
    pub fn in_context(&self) -> Vec<u32> {
        let sent = self.rounds.iter().filter(|round| round.is_sent());
        let mut sent: Vec<(Option<u32>, u32)> =
            sent.map(|round| (round.standing.place, round.seq)).collect();
        sent.sort_unstable();
        sent.into_iter().map(|(_, seq)| seq).collect()
    }

    /// How many rounds at the beginning of the context are behind just what was before them when they
    /// were made. A compaction that keeps rounds moves them, and a cut removes those before.
    pub fn in_order(&self) -> usize {
        if self.cut.is_some() {
            return 0;
        }
        let context = self.in_context();
        let mut before = 0;
        let is_in_order = |seq: &&u32| {
            let is_later = **seq > std::mem::replace(&mut before, **seq);
            let parts = self.round(**seq).map_or(&[][..], |round| &round.standing.parts);
            // What is before the first round is part 0.
            is_later && parts.iter().all(|part| part.seq == **seq || part.seq == 0)
        };
        context.iter().take_while(is_in_order).count()
    }

    /// The rounds in the context, and those that a compaction removed from it. Ascending.
    pub fn on_branch(&self) -> Vec<u32> {
        let is =
            |round: &&Round| matches!(round.standing.state, State::InContext | State::Compacted);
        self.rounds.iter().filter(is).map(|round| round.seq).collect()
    }

    /// The round with that number.
    pub fn round(&self, seq: u32) -> Option<&Round> {
        let at = self.rounds.binary_search_by_key(&seq, |round| round.seq).ok()?;
        self.rounds.get(at)
    }
}
