//! How much of a round goes into the context. The words of the user and the agent always do.
//!
//! A call and its result stay a pair: if the call is removed, its result becomes a text in the
//! user's row or goes, too. A changed message keeps no original thinking, because the signature
//! covers the message. An empty row goes.

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

/// How much of a kind of block stays.
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
    /// All of it.
    #[default]
    Full,
    /// A line about what it was and how to get it. It has a reference to thinking, a call's name
    /// and description, or a result's size and first line.
    #[value(alias = "ref")]
    Summary,
    /// Nothing.
    Omit,
}

/// How much of each kind of block stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Fidelity {
    /// Thinking blocks.
    pub thinking: Level,
    /// Tool calls.
    pub tool_use: Level,
    /// Results of tool calls.
    pub tool_result: Level,
}

impl Fidelity {
    /// Whether everything stays as it is.
    pub fn is_full(self) -> bool {
        self == Self::default()
    }
}

/// Reduces the rows of one round to a fidelity.
pub struct Lens<'d> {
    dialect: &'d dyn Dialect,
    fidelity: Fidelity,
    /// The round's reference, for the hints how to get the rest.
    reference: String,
    calls: HashMap<String, Known>,
    /// Messages that contain calls.
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
    /// A lens over `rows`, which are all rows of the round. `reference` is how to inject the round
    /// ([`super::table::reference`]).
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
            let json = block.span.slice(line);
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

    /// What remains of a row of the round; `None` if nothing. If it changed, its kind and content
    /// must be read again.
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

    /// The level of thinking in this row's message.
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
            // The result of a server tool is in the agent's message. It cannot become the user's
            // text, and cannot stay without its call.
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

    /// Rebuilds the agent's message from its items.
    fn message(&self, line: &[u8], row: &Row, blocks: &[Block]) -> Left {
        let Some(content) = row.content.filter(|c| c.slice(line).first() == Some(&b'[')) else {
            return Left::Same;
        };
        let mut fields = Vec::new();
        let calls_here = blocks.iter().any(|block| {
            let json = block.span.slice(line);
            span::fields(json, &mut fields).is_some() && is_use(block, json, &fields)
        });
        let thinking = self.thinking(row, calls_here);
        let mut items = Items::default();
        for block in blocks {
            let json = block.span.slice(line);
            items.push(self.item(block, json, thinking), json);
        }
        items.into_row(line, content, |_| {})
    }

    /// What a result becomes as a text of the user, if its call is no longer one.
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

/// Whether a block is a call, including calls of server tools.
fn is_use(block: &Block, json: &[u8], fields: &[Field]) -> bool {
    let kind = || span::get(json, fields, "type").unwrap_or_default();
    block.kind == BlockKind::ToolUse
        || (block.kind == BlockKind::Row && kind().ends_with(b"tool_use\""))
}

/// Whether a block says that it is the result of a tool.
fn is_result(json: &[u8], fields: &[Field]) -> bool {
    span::get(json, fields, "type").is_some_and(|kind| kind.ends_with(b"tool_result\""))
}

#[cfg(test)]
mod tests;
