//! How much of a round comes into the context. The user's and the agent's words always do.
//!
//! A call and its result stay a pair: where the call is no longer one, what it gave becomes
//! a text of the user's row or goes, too. A message that changes keeps none of its thinking
//! as it was: a signature stands for its message. A row that nothing is left of goes.

mod claude;
mod pi;
mod splice;
pub(super) mod words;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use splice::{Item, Items, Left};

use base::clock::Time;
use sessions::dialect::{Block, BlockKind, Dialect, Row, Scratch};
use sessions::digest;
use sessions::span::{self, Field};

/// What becomes of a kind of block.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Default,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it is.
    #[default]
    Full,
    /// A line that says what it was and how to get it: a reference to thinking, the name and
    /// description of a call, size and first line of a result.
    #[value(alias = "ref")]
    Summary,
    /// Nothing.
    Omit,
}

/// What becomes of each kind of block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Fidelity {
    /// Thinking blocks.
    pub thinking: Level,
    /// Tool calls.
    pub tool_use: Level,
    /// What tool calls gave.
    pub tool_result: Level,
}

impl Fidelity {
    /// Whether everything stays as it is.
    pub fn is_full(self) -> bool {
        self == Self::default()
    }
}

/// Turns the rows of one round into what a fidelity leaves of them.
pub struct Lens<'d> {
    dialect: &'d dyn Dialect,
    fidelity: Fidelity,
    /// How the round is called in what says how to get the rest.
    reference: String,
    calls: HashMap<String, Known>,
    /// Messages that hold calls.
    calling: HashSet<String>,
    scratch: Scratch,
    fields: Vec<Field>,
    blocks: Vec<Block>,
}

/// A call of the round.
#[derive(Debug, Clone, Default)]
struct Known {
    /// `Name·what`.
    title: String,
    at: Option<Time>,
}

impl<'d> Lens<'d> {
    /// A lens over these rows, which are all of the round's. `reference` is how the round can
    /// be injected ([`super::table::reference`]).
    pub fn new<'r>(
        dialect: &'d dyn Dialect,
        rows: impl Iterator<Item = &'r [u8]>,
        fidelity: Fidelity,
        reference: String,
    ) -> Self {
        let mut lens = Self {
            dialect,
            fidelity,
            reference,
            calls: HashMap::new(),
            calling: HashSet::new(),
            scratch: Scratch::default(),
            fields: Vec::new(),
            blocks: Vec::new(),
        };
        if !fidelity.is_full() {
            rows.for_each(|line| lens.know(line));
        }
        lens
    }

    /// Remembers a row's calls.
    fn know(&mut self, line: &[u8]) {
        let row = self.dialect.row(line, &mut self.scratch);
        self.dialect.blocks(line, &row, &mut self.scratch, &mut self.blocks);
        for block in &self.blocks {
            let json = block.span.of(line);
            if span::fields(json, &mut self.fields).is_none() || !is_use(block, json, &self.fields)
            {
                continue;
            }
            if let Some(message) = row.message {
                self.calling.insert(message.to_owned());
            }
            if let Some(id) = span::get(json, &self.fields, "id").and_then(span::text) {
                let title = self.title(json);
                let at = row.at.and_then(|at| at.parse().ok());
                self.calls.insert(id.into_owned(), Known { title, at });
            }
        }
    }

    /// What is left of a row of the round; `None` where nothing is. Where it is another row
    /// than it was, its kind and its content are to be read again.
    pub fn row<'a>(&mut self, line: &'a [u8], row: &Row) -> Option<Cow<'a, [u8]>> {
        if self.fidelity.is_full() || row.content.is_none() {
            return Some(Cow::Borrowed(line));
        }
        let mut blocks = std::mem::take(&mut self.blocks);
        self.dialect.blocks(line, row, &mut self.scratch, &mut blocks);
        let left = match self.dialect.name() {
            "pi" => self.pi(line, row, &blocks),
            _ => self.claude(line, row, &blocks),
        };
        self.blocks = blocks;
        match left {
            Left::Same => Some(Cow::Borrowed(line)),
            Left::Gone => None,
            Left::Row(line) => Some(Cow::Owned(line)),
        }
    }

    /// What thinking is to be in this row's message.
    fn thinking(&self, row: &Row, calls_here: bool) -> Level {
        let calls = calls_here || row.message.is_some_and(|id| self.calling.contains(id));
        match self.fidelity.thinking {
            Level::Full if calls && self.fidelity.tool_use != Level::Full => Level::Summary,
            much => much,
        }
    }

    /// What an item of an agent's message becomes.
    fn item(&self, block: &Block, json: &[u8], thinking: Level) -> Item {
        let mut fields = Vec::new();
        if span::fields(json, &mut fields).is_none() {
            return Item::Same;
        }
        let field = |name| span::get(json, &fields, name).and_then(span::text);
        let thought = block.kind == BlockKind::Thinking;
        let called = is_use(block, json, &fields);
        let much = match self.fidelity {
            _ if thought => thinking,
            Fidelity { tool_use, .. } if called => tool_use,
            // What a tool of the service gave stands in the agent's message: it can't become
            // the user's, and without its call it can't stay.
            Fidelity { tool_use: Level::Summary | Level::Omit, tool_result, .. }
                if is_result(json, &fields) =>
            {
                tool_result.max(Level::Summary)
            }
            _ => Level::Full,
        };
        match much {
            Level::Full => Item::Same,
            Level::Omit => Item::Gone,
            Level::Summary if thought => {
                Item::Text(words::thinking(field("thinking").as_deref(), &self.reference))
            }
            Level::Summary if called => {
                Item::Text(words::tool_use(&self.title(json), &self.reference))
            }
            Level::Summary => {
                Item::Text(words::served(&field("type").unwrap_or_default(), &self.reference))
            }
        }
    }

    /// `Name·what` of a call.
    fn title(&self, json: &[u8]) -> String {
        self.dialect.call(json).map(|call| digest::title(&call)).unwrap_or_default()
    }

    /// What the agent's message becomes, from its items.
    fn message(&self, line: &[u8], row: &Row, blocks: &[Block]) -> Left {
        let Some(content) = row.content.filter(|c| c.of(line).first() == Some(&b'[')) else {
            return Left::Same;
        };
        let mut fields = Vec::new();
        let calls_here = blocks.iter().any(|block| {
            let json = block.span.of(line);
            span::fields(json, &mut fields).is_some() && is_use(block, json, &fields)
        });
        let thinking = self.thinking(row, calls_here);
        let mut items = Items::default();
        for block in blocks {
            let json = block.span.of(line);
            items.push(self.item(block, json, thinking), json);
        }
        items.into_row(line, content, |_| {})
    }

    /// What a result becomes as a text of the user's, where its call is none any more.
    fn told(&self, id: Option<&str>, result: &words::Result) -> Item {
        let call = id.and_then(|id| self.calls.get(id)).cloned().unwrap_or_default();
        match self.fidelity.tool_result {
            Level::Full => Item::Many(result.texts(&call.title)),
            Level::Summary => Item::Text(self.summary(id, result)),
            Level::Omit => Item::Gone,
        }
    }

    fn summary(&self, id: Option<&str>, result: &words::Result) -> String {
        let called = id.and_then(|id| self.calls.get(id)).and_then(|call| call.at);
        result.summary(called, &self.reference)
    }
}

/// Whether a block is a call: also of tools that the service runs.
fn is_use(block: &Block, json: &[u8], fields: &[Field]) -> bool {
    let kind = || span::get(json, fields, "type").unwrap_or_default();
    block.kind == BlockKind::ToolUse
        || (block.kind == BlockKind::Row && kind().ends_with(b"tool_use\""))
}

/// Whether a block says that it is what a tool gave.
fn is_result(json: &[u8], fields: &[Field]) -> bool {
    span::get(json, fields, "type").is_some_and(|kind| kind.ends_with(b"tool_result\""))
}

#[cfg(test)]
mod tests;
