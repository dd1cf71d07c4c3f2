//! Turns a session's rows into rounds, row by row: what the index holds of each, and the words that
//! search finds. A digest can be saved (serde) between any two rows and resumed.

mod calls;
mod texts;

use crate::dialect::Facts;
use serde::{Deserialize, Serialize};

pub use calls::title;
pub use texts::{from_json as text, preview};

use super::dialect::{Block, BlockKind, Dialect, Kind, Row};
use super::origin::{Fork, Named, Origin};
use super::round::{PREVIEW, Round, Rounds, Words};
use super::sent::{self, Standing};
use super::span;
use calls::Key;

/// A session's rounds so far. The last one is open: later rows may be part of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Digest {
    rounds: Rounds,
    facts: Facts,
    rows: sent::Rows,
    /// How many rows with an id there were when each round ended, from round 0.
    ends: Vec<usize>,
    /// What the context held after each of these rounds, in tokens; 0 is unknown.
    used: Vec<u64>,
    /// The tokens of each of these rounds.
    tokens: Vec<u64>,
    open: Open,
    /// Whether surgery made the session.
    made: bool,
    /// What the context holds beside the rounds, by the first response.
    #[serde(default)]
    base: Option<u64>,
    /// After a compaction without a response yet: the bytes of the messages since then, without
    /// those of the open round.
    #[serde(default)]
    compacted: Option<u64>,
    /// The origin of the round before the open one.
    #[serde(default)]
    before: Option<Origin>,
    /// The first rows that are not JSON: their round, and their position in it from 0.
    malformed: Vec<(u32, u32)>,
}

/// The round that new rows are added to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Open {
    round: Round,
    words: Words,
    /// The round that its first row follows: the one before, unless the session was rewound.
    follows: Option<u32>,
    /// Where the last text begins in the agent's words.
    last_text: usize,
    /// Bytes of its messages, for the token estimate.
    weight: u64,
    /// What the context held after its last response.
    used: Option<u64>,
    /// The message by which [`Digest::base`] was measured, if that was in this round, and the bytes
    /// of the messages before this round that its context had.
    #[serde(default)]
    first: Option<(String, u64)>,
    /// Tokens of earlier rounds in the context that [`Digest::base`] was measured by.
    kept: u64,
    key: Key,
}

/// How many rows that are not JSON are remembered.
const MALFORMED: usize = 1000;

/// Bytes of text per token, if nothing was measured.
const BYTES_A_TOKEN: u64 = 4;

impl Digest {
    /// Takes the next row: its head, its line, and its parts. Returns the round that it completed.
    pub fn row(
        &mut self,
        dialect: &dyn Dialect,
        row: &Row,
        line: &[u8],
        blocks: &[Block],
    ) -> Option<(Round, Words)> {
        self.made |= row.made;
        let at_row = self.rows.len();
        let is_copy = self.rows.row(row, line);
        let before = self.rounds.seq;
        let seq = if is_copy { before } else { self.rounds.place(row) };
        let mut ended = None;
        if seq != before {
            ended = self.open();
            self.ends.push(at_row);
            self.used.push(self.context().filter(|_| ended.is_some()).unwrap_or_default());
            self.tokens.push(ended.as_ref().map_or(0, |(round, _)| round.tokens));
            let boundary = matches!(row.kind, Kind::Boundary | Kind::Summary);
            let round = Round { seq, boundary, ..Round::default() };
            self.compacted = match self.compacted {
                _ if boundary => Some(0),
                before => before.map(|bytes| bytes + self.open.weight),
            };
            self.before = self.open.round.origin.take();
            self.open = Open { round, ..Open::default() };
        }
        if self.facts.id.is_none() || self.facts.cwd.is_none() {
            dialect.facts(line, &mut self.facts);
        }
        let at = row.at.and_then(|at| at.parse().ok());
        self.facts.started = self.facts.started.or(at);
        self.facts.ended = at.or(self.facts.ended);
        let round = &mut self.open.round;
        round.started = round.started.or(at);
        round.ended = at.or(round.ended);
        if row.kind == Kind::Broken && self.malformed.len() < MALFORMED {
            self.malformed.push((seq, round.rows));
        }
        round.rows += 1;
        round.bytes += line.len() as u64;
        if is_copy || self.rounds.beside(row) {
            return ended;
        }
        if let Some(model) = row.model.filter(|model| self.facts.model.as_deref() != Some(*model)) {
            self.facts.model = Some(model.to_owned());
        }
        if let Some(id) = row.id {
            let first = round.first_id.is_none();
            if first {
                round.first_id = Some(id.to_owned());
                let before = self.rows.before(at_row);
                let follows = before.map(|row| self.round_of(row));
                self.open.follows = follows.filter(|round| *round > 0 && !self.open.round.boundary);
            }
            self.open.copied(row, first);
            if matches!(row.kind, Kind::Prompt | Kind::Assistant | Kind::ToolResult) {
                self.open.round.last_id = Some(id.to_owned());
            }
        }
        // The usage in a row that surgery copied is of another context.
        let used = row.used.filter(|_| !(self.made && row.copied.is_some()));
        self.open.message(dialect, &Row { used, ..*row }, line, blocks);
        self.begin(row.message, used);
        ended
    }

    /// Takes the usage of the first response, of the session or after a compaction: what it does not
    /// explain by its rows is the base. The rows of one response have the same usage.
    fn begin(&mut self, message: Option<&str>, used: Option<u64>) {
        let Some(used) = used.filter(|_| !self.made) else { return };
        let compacted = self.compacted.take();
        if compacted.is_some() {
            self.open.kept = self.kept_tokens();
        }
        let compacted = compacted.map(|bytes| bytes + self.open.kept * BYTES_A_TOKEN);
        let before = compacted.or(self.base.is_none().then_some(0));
        if let Some(weight) = before {
            self.open.first = Some((message.unwrap_or_default().to_owned(), weight));
        }
        if let Some((first, weight)) = &self.open.first
            && (before.is_some() || message == Some(first))
        {
            let rows = (weight + self.open.weight).div_ceil(BYTES_A_TOKEN);
            self.base = Some(used.saturating_sub(rows));
        }
    }

    /// The tokens of the rounds before the newest compaction that it left in the context. Of a round
    /// of which only the end was kept, they are unknown, and count as the base.
    fn kept_tokens(&self) -> u64 {
        let Some(compacted) = self.rows.kept_by().map(|row| self.round_of(row) as usize) else {
            return 0;
        };
        let standings = self.standings().0;
        let rounds = self.tokens.iter().skip(1).zip(&standings).take(compacted.saturating_sub(1));
        let kept = rounds.filter(|(_, standing)| standing.state == sent::State::InContext);
        kept.map(|(tokens, _)| tokens).sum()
    }

    /// The round of a row with an id.
    fn round_of(&self, row: usize) -> u32 {
        self.ends.partition_point(|end| *end <= row) as u32
    }

    /// The round of the last row; 0 before the first.
    pub fn seq(&self) -> u32 {
        self.rounds.seq
    }

    /// The open round as it is now; `None` before the first.
    pub fn open(&self) -> Option<(Round, Words)> {
        if self.open.round.seq == 0 {
            return None;
        }
        let Open { round, words, last_text, .. } = &self.open;
        let mut round = round.clone();
        if !words.user.is_empty() {
            round.user_preview = preview(&words.user, PREVIEW);
        }
        round.agent_preview = preview(&words.agent[*last_text..], PREVIEW);
        round.key_tool = self.open.key.text();
        let follows = self.open.follows;
        let grown = |from: Option<u64>| {
            let (end, from) = self.open.used.zip(from)?;
            end.checked_sub(from).filter(|tokens| *tokens > 0)
        };
        let measured = grown(follows.and_then(|round| self.used_after(round)));
        // Nothing was measured before the first round, and little of the base is a guess.
        let first = || grown(self.base().filter(|_| follows.is_none()));
        round.measured = measured.is_some();
        let first = || first().map(|tokens| tokens.saturating_sub(self.open.kept).max(1));
        let tokens = measured.or_else(first);
        round.tokens = tokens.unwrap_or(self.open.weight.div_ceil(BYTES_A_TOKEN));
        // What a compaction kept of earlier rounds has the compaction's origin: its words were found
        // where they were said.
        let again = round.origin.is_some() && round.origin == self.before;
        Some((round, if again { Words::default() } else { words.clone() }))
    }

    /// What the context holds beside the rounds, in tokens: by the first response, or as surgery
    /// knew it.
    pub fn base(&self) -> Option<u64> {
        self.base.or(self.facts.base)
    }

    /// What the context held after the last response, in tokens, or as surgery knew it. A round
    /// without a response of its own leaves as much as the round it follows.
    pub fn context(&self) -> Option<u64> {
        let before = || self.open.follows.and_then(|round| self.used_after(round));
        self.open.used.or_else(before).or(self.facts.tokens)
    }

    /// What the context held after a round that ended.
    fn used_after(&self, round: u32) -> Option<u64> {
        self.used.get(round as usize).copied().filter(|used| *used > 0)
    }

    /// How each round stands to the next request, from round 1, and
    /// [`Session::cut`](super::round::Session::cut).
    pub fn standings(&self) -> (Vec<Standing>, Option<u64>) {
        self.rows.standings(&self.ends)
    }

    /// What is known about the session.
    pub fn session(&self) -> &Facts {
        &self.facts
    }
}

impl Open {
    /// Takes where a row was copied from. The first row decides for the round.
    fn copied(&mut self, row: &Row, first: bool) {
        match row.copied {
            Some(json) if first => {
                let fork = Fork::read(json);
                (self.round.origin, self.round.less) = (fork.origin, fork.less);
                self.round.copied = fork.row.filter(|_| self.round.origin.is_none());
            }
            Some(json) => self.round.less |= Fork::read(json).less,
            None => {
                let copied = self.round.origin.is_some() || self.round.copied.is_some();
                self.round.more |= copied && row.kind == Kind::Assistant;
            }
        }
    }

    /// Takes what a row of the conversation says.
    fn message(&mut self, dialect: &dyn Dialect, row: &Row, line: &[u8], blocks: &[Block]) {
        match row.kind {
            Kind::Attachment => {
                if let Some(words) = dialect.queued(line) {
                    self.weight += words.len() as u64;
                    self.said(&words);
                } else if let Some((_, json)) = dialect.attached(line) {
                    self.weight += json.len() as u64;
                }
                return;
            }
            Kind::System | Kind::Other | Kind::Broken => return,
            Kind::Prompt => self.round.user = true,
            Kind::Assistant => self.round.assistant = true,
            Kind::Boundary | Kind::Summary | Kind::ToolResult | Kind::Notice => {}
        }
        let Some(content) = row.content else { return };
        self.weight += texts::weight(content.slice(line));
        self.used = row.used.or(self.used);
        if row.kind == Kind::Boundary {
            self.summary(&texts::from_json(content.slice(line)));
        }
        for block in blocks {
            let json = block.span.slice(line);
            match (row.kind, block.kind) {
                (Kind::Assistant, BlockKind::AssistantText) => {
                    self.answered(&texts::from_json(json));
                }
                (Kind::Assistant, BlockKind::ToolUse) => {
                    if let Some(call) = dialect.call(json) {
                        calls::count(&call, &mut self.round, &mut self.key);
                    }
                }
                // Search finds the rounds themselves, not the table that describes them.
                (Kind::Prompt, BlockKind::UserText) if row.told => {
                    let told = span::find(line, "brainGuard").unwrap_or_default();
                    self.round.table = Some(Named::read(told));
                    self.summary(&texts::from_json(json));
                }
                (Kind::Prompt, BlockKind::UserText) => {
                    if let Some(words) = dialect.said(&texts::from_json(json)) {
                        self.said(&words);
                    }
                }
                (Kind::Summary, BlockKind::UserText) => self.summary(&texts::from_json(json)),
                _ => {}
            }
        }
    }

    fn said(&mut self, words: &str) {
        self.round.user = true;
        texts::append(&mut self.words.user, words);
    }

    fn answered(&mut self, words: &str) {
        if let Some(begins) = texts::append(&mut self.words.agent, words) {
            self.last_text = begins;
        }
    }

    fn summary(&mut self, words: &str) {
        if self.round.user_preview.is_empty() {
            self.round.user_preview = preview(words, PREVIEW);
        }
    }
}

#[cfg(test)]
mod tests;
