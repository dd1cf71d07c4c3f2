//! How much of a round goes into the context. The words of the user and the agent always do.
//!
//! Nothing that surgery writes is in the agent's voice: a model would imitate it. Calls and results
//! stay what they are with shorter values, or go together. A note on the prompt says what thinking
//! is gone. A changed message keeps no original thinking, because the signature covers the message.
//! Nothing gets longer, except for that prompt. An empty row goes.
//!
//! Only messages are reduced: attachments pass. A row must stay what it is: whether a prompt begins a
//! round depends on how its text begins ([`Claude.said`](Claude)), so no text of a person's goes.

mod claude;
mod splice;
mod survey;
pub(super) mod words;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use splice::{Edit, Item, Items, RowOutcome};

use base::clock::Time;
use sessions::dialect::{Block, BlockKind, Claude, Dialect as _, Kind, Row, Scratch};
use sessions::operation::{Fidelity, Level};
use sessions::span;

/// Reduces the rows of one round to a fidelity.
pub struct Lens {
    fidelity: Fidelity,
    /// The round's reference, for the hints how to get the rest.
    reference: String,
    /// When each call was made, by its id.
    called: HashMap<String, Time>,
    /// Messages in which something other than thinking changes.
    changed: HashSet<String>,
    /// Messages that become part of an earlier one, with the id of that one.
    joined: HashMap<String, String>,
    /// Whether unchanged messages keep their thinking.
    keeps_thinking: bool,
    /// The note about thinking, until a prompt has it.
    note: Option<String>,
    scratch: Scratch,
    blocks: Vec<Block>,
}

impl Lens {
    /// A lens over `rows`, which are all rows of the round that stay. `reference` is how to inject it
    /// ([`super::table::reference`]).
    pub fn new<'r>(
        rows: impl Iterator<Item = &'r [u8]>,
        fidelity: Fidelity,
        reference: String,
    ) -> Self {
        let mut lens = Self {
            fidelity,
            reference,
            called: HashMap::new(),
            changed: HashSet::new(),
            joined: HashMap::new(),
            keeps_thinking: true,
            note: None,
            scratch: Scratch::default(),
            blocks: Vec::new(),
        };
        if !fidelity.is_full() {
            lens.survey(rows);
        }
        lens
    }

    /// What remains of a row of the round; `None` if nothing. If it changed, its kind and content
    /// must be read again.
    pub fn row<'a>(&mut self, line: &'a [u8], row: &Row) -> Option<Cow<'a, [u8]>> {
        if self.fidelity.is_full() || row.content.is_none() {
            return Some(Cow::Borrowed(line));
        }
        let mut blocks = std::mem::take(&mut self.blocks);
        Claude.blocks(line, row, &mut self.scratch, &mut blocks);
        let left = match row.kind {
            Kind::Prompt if self.takes_note(line, row, &blocks) => self.noted(line, row, &blocks),
            Kind::Assistant => self.message(line, row, &blocks),
            Kind::ToolResult => self.results(line, row, &blocks),
            _ => RowOutcome::Same,
        };
        self.blocks = blocks;
        match left {
            RowOutcome::Same => Some(Cow::Borrowed(line)),
            RowOutcome::Gone => None,
            RowOutcome::Row(line) => Some(Cow::Owned(line)),
        }
    }

    /// What a block of an agent's message becomes, if it is not thinking.
    fn item(&self, block: &Block, json: &[u8]) -> Item {
        let mut fields = Vec::new();
        if self.fidelity.tool_use == Level::Full || span::fields(json, &mut fields).is_none() {
            return Item::Same;
        }
        let kind = span::get(json, &fields, "type").unwrap_or_default();
        // The results of server tools are in the agent's message.
        let server = kind.ends_with(b"tool_use\"") || kind.ends_with(b"tool_result\"");
        if self.fidelity.tool_use == Level::Omit {
            let goes = server || block.kind == BlockKind::ToolUse;
            return if goes { Item::Gone } else { Item::Same };
        }
        // The service checks its own calls and results.
        let own = kind == b"\"tool_use\"";
        let input = fields.iter().find(|field| own && field.name.slice(json) == b"input");
        let short = input.and_then(|field| {
            let bytes = words::shortened(field.value.slice(json), &self.reference)?;
            Some(splice::apply(json, vec![Edit { span: field.value, bytes }]))
        });
        short.map_or(Item::Same, Item::Json)
    }

    /// Rebuilds the agent's message from its items.
    fn message(&self, line: &[u8], row: &Row, blocks: &[Block]) -> RowOutcome {
        let Some(content) = row.content.filter(|c| c.slice(line).first() == Some(&b'[')) else {
            return RowOutcome::Same;
        };
        let thought = |block: &Block| block.kind == BlockKind::Thinking;
        let made: Vec<Item> =
            blocks
                .iter()
                .map(|block| {
                    if thought(block) {
                        Item::Same
                    } else {
                        self.item(block, block.span.slice(line))
                    }
                })
                .collect();
        let changed = made.iter().any(|item| !matches!(item, Item::Same))
            || row.message.is_some_and(|id| self.changed.contains(id));
        let mut items = Items::default();
        for (block, item) in blocks.iter().zip(made) {
            let goes = thought(block) && (changed || !self.keeps_thinking);
            items.push(if goes { Item::Gone } else { item }, block.span.slice(line));
        }
        let left = items.into_row(line, content, |_| {});
        match row.message.and_then(|id| self.joined.get(id)) {
            Some(first) => left.map(line, |line| survey::renamed(line, first)),
            None => left,
        }
    }

    /// Whether a row is the prompt that gets the note: a person's words are in it. An image alone
    /// would no longer begin a round.
    fn takes_note(&self, line: &[u8], row: &Row, blocks: &[Block]) -> bool {
        let said = |block: &Block| {
            let json = block.span.slice(line);
            let text = span::text(span::find(json, "text").unwrap_or(json));
            block.kind == BlockKind::UserText
                && text.is_some_and(|text| Claude.said(&text).is_some())
        };
        self.note.is_some() && !row.told && blocks.iter().any(said)
    }

    /// The prompt with the note behind its words, in a block of its own.
    fn noted(&mut self, line: &[u8], row: &Row, blocks: &[Block]) -> RowOutcome {
        let (Some(note), Some(content)) = (self.note.take(), row.content) else {
            return RowOutcome::Same;
        };
        let mut items = Items::default();
        for block in blocks {
            let json = block.span.slice(line);
            let whole = json.first() == Some(&b'"');
            let block = || [br#"{"type":"text","text":"#, json, b"}"].concat();
            items.push(if whole { Item::Json(block()) } else { Item::Same }, json);
        }
        items.push(Item::Json(words::text_block(&note)), b"");
        items.into_row(line, content, |_| {})
    }

    /// What may replace the text of a result; `None` if it stays.
    fn in_short(&self, id: Option<&str>, result: &words::ToolResult) -> Option<String> {
        match self.fidelity.tool_result {
            Level::Full => None,
            Level::Omit => Some(words::OMITTED.to_owned()),
            Level::Summary => {
                let called = id.and_then(|id| self.called.get(id)).copied();
                Some(result.summary(called, &self.reference))
            }
        }
    }
}

#[cfg(test)]
mod tests;
