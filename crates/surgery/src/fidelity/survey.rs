//! Reads all rows of a round before the first one is reduced: which messages change or become one,
//! and which thinking goes.

use std::collections::HashSet;

use super::splice::{self, Edit, Item};
use super::{Lens, Level, words};
use sessions::dialect::{Block, BlockKind, Claude, Dialect as _, Kind, Row};
use sessions::span::{self, Span};

/// A thinking block.
struct Thought {
    message: Option<String>,
    /// Whether something else in its row changes.
    changed: bool,
    /// Its text; empty if nobody can read it.
    text: usize,
    /// Bytes of its JSON.
    bytes: usize,
}

/// The messages of a round, as they are joined.
#[derive(Default)]
struct Messages {
    /// Those that keep a block.
    kept: HashSet<String>,
    /// The one that the next becomes part of, if nobody says anything in between.
    open: Option<String>,
}

impl Lens {
    pub(super) fn survey<'r>(&mut self, rows: impl Iterator<Item = &'r [u8]>) {
        let (mut thoughts, mut messages) = (Vec::new(), Messages::default());
        let mut scratch = std::mem::take(&mut self.scratch);
        for line in rows {
            let row = Claude.row(line, &mut scratch);
            match row.kind {
                Kind::Assistant => {
                    self.read(line, &row, scratch.blocks(), &mut thoughts, &mut messages);
                }
                Kind::ToolResult
                    if scratch.blocks().iter().all(|b| b.kind == BlockKind::ToolResult) => {}
                Kind::Prompt | Kind::Summary | Kind::Notice | Kind::ToolResult => {
                    messages.open = None;
                }
                Kind::Attachment if Claude.queued(line).is_some() => messages.open = None,
                _ => {}
            }
        }
        self.scratch = scratch;
        self.note = self.decide(&thoughts);
    }

    /// Reads a row of the agent.
    fn read(
        &mut self,
        line: &[u8],
        row: &Row,
        blocks: &[Block],
        thoughts: &mut Vec<Thought>,
        messages: &mut Messages,
    ) {
        let (first, mut changed, mut kept) = (thoughts.len(), false, false);
        for block in blocks {
            let json = block.span.slice(line);
            if block.kind == BlockKind::Thinking {
                let text = span::find(json, "thinking").and_then(span::text);
                thoughts.push(Thought {
                    message: row.message.map(str::to_owned),
                    changed: false,
                    text: text.map_or(0, |text| text.len()),
                    bytes: json.len(),
                });
                continue;
            }
            let item = self.item(block, json);
            changed |= !matches!(item, Item::Same);
            kept |= !matches!(item, Item::Gone);
            let id = || span::find(json, "id").and_then(span::text);
            let at = || row.at.and_then(|at| at.parse().ok());
            if block.kind == BlockKind::ToolUse
                && let (Some(id), Some(at)) = (id(), at())
            {
                self.called.insert(id.into_owned(), at);
            }
        }
        thoughts[first..].iter_mut().for_each(|thought| thought.changed = changed);
        let Some(message) = row.message else { return };
        if changed {
            self.changed.insert(message.to_owned());
        }
        if kept && self.fidelity.tool_use == Level::Omit {
            self.join(message, messages);
        }
    }

    /// Joins a message to the one before if only calls and results were between them: the roles of
    /// a request must alternate.
    fn join(&mut self, message: &str, messages: &mut Messages) {
        let own = self.joined.get(message).map_or(message, String::as_str);
        let before = messages.open.take().filter(|open| open != own);
        let new = messages.kept.insert(message.to_owned());
        messages.open = match before.filter(|_| new) {
            Some(open) => {
                self.changed.extend([open.clone(), message.to_owned()]);
                self.joined.insert(message.to_owned(), open.clone());
                Some(open)
            }
            None => Some(own.to_owned()),
        };
    }

    /// Decides whether unchanged messages keep their thinking. Returns the note about what goes.
    fn decide(&mut self, thoughts: &[Thought]) -> Option<String> {
        let lost = |thought: &Thought| {
            let message = thought.message.as_ref();
            thought.changed || message.is_some_and(|id| self.changed.contains(id))
        };
        let any = thoughts.iter().any(lost);
        let note = |goes: &dyn Fn(&Thought) -> bool| {
            let texts = thoughts.iter().filter(|thought| thought.text > 0 && goes(thought));
            words::left_out(texts.map(|thought| thought.text), &self.reference)
        };
        let (keeps, note) = match self.fidelity.thinking {
            Level::Full => (true, note(&lost)),
            Level::Omit => (false, None),
            Level::Summary => {
                let note = note(&|_| true);
                let bytes: usize = thoughts.iter().map(|thought| thought.bytes).sum();
                let longer = |note: &String| bytes <= words::text_block(note).len();
                if note.as_ref().is_some_and(longer) && !any { (true, None) } else { (false, note) }
            }
        };
        self.keeps_thinking = keeps;
        note
    }
}

/// A row whose message has another id.
pub(super) fn renamed(line: &[u8], id: &str) -> Vec<u8> {
    let at = span::locate(line, "message")
        .and_then(|message| Some(span::locate(message.slice(line), "id")?.shifted(message.start)));
    let edit = |span: Span| Edit { span, bytes: words::quoted(id) };
    splice::apply(line, at.map(edit).into_iter().collect())
}
