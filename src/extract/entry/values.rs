//! From a row's places to an entry and its values, in each of the shapes.

use std::collections::HashSet;
use std::sync::Arc;

use chrono::DateTime;

use super::read::{Block, Head, Room, Shape};
use super::strings::{self, Found, counts};
use super::{Entry, Extractable, Role, Tools, Trigger, Value, chars};
use crate::clock::Time;
use crate::transcript::span::{Span, text};

/// The entry that a row is, without its id and number.
pub fn of(line: &[u8], head: &Head, room: &Room, tools: &mut Tools) -> Entry {
    let shape = head.shape();
    let (role, words) = whose(head, shape);
    let tool = tools.name(head.tool.map(|at| at.of(line)));
    let mut found = Values { line, tools, tool, words, error: head.error, all: Vec::new() };
    match shape {
        Shape::Flat => found.flat(head, room),
        Shape::Pi | Shape::Claude => found.message(head, room),
    }
    if let Some(trigger) = words {
        let copied = if trigger == Trigger::User { Trigger::ToolResult } else { trigger };
        found.strings(&room.copies, copied, None, true);
    }
    let Values { mut all, tool, error, .. } = found;
    all.sort_unstable_by_key(|value| value.span.start);
    if head.twice || twice(&all) {
        all.clear();
    }
    all.shrink_to_fit();
    Entry {
        row: 0,
        id: String::new(),
        role,
        continues: false,
        tool: tool.filter(|_| role != Role::Assistant),
        error,
        extractable: head.extractable.and_then(|at| extractable(at.of(line))),
        restored: head.restored.and_then(|at| restored(at.of(line))),
        in_context: false,
        values: all,
    }
}

/// Whose message a row is, and what its text is; `None` for rows whose texts are the client's.
fn whose(head: &Head, shape: Shape) -> (Role, Option<Trigger>) {
    let role = match shape {
        Shape::Flat if head.kind == b"\"custom_message\"" => {
            return (Role::None, Some(Trigger::User));
        }
        Shape::Flat => head.kind,
        Shape::Pi => head.role,
        Shape::Claude if matches!(head.kind, b"\"user\"" | b"\"assistant\"") => head.kind,
        Shape::Claude => return (Role::None, None),
    };
    match role {
        b"\"user\"" => (Role::User, Some(Trigger::User)),
        b"\"assistant\"" => (Role::Assistant, Some(Trigger::Assistant)),
        b"\"thinking\"" => (Role::Assistant, Some(Trigger::Thinking)),
        b"\"toolCall\"" | b"\"tool_call\"" | b"\"tool_use\"" => {
            (Role::Assistant, Some(Trigger::ToolCall))
        }
        b"\"toolResult\"" | b"\"tool_result\"" | b"\"tool\"" => {
            (Role::Tool, Some(Trigger::ToolResult))
        }
        // What the user ran himself, and what an extension says.
        b"\"bashExecution\"" => (Role::None, Some(Trigger::ToolResult)),
        b"\"custom\"" if shape == Shape::Pi => (Role::None, Some(Trigger::User)),
        _ => (Role::None, None),
    }
}

/// The values of a row as they are found.
struct Values<'a> {
    line: &'a [u8],
    tools: &'a mut Tools,
    /// The tool that the row names, or the first result's.
    tool: Option<Arc<str>>,
    /// What the message's text is.
    words: Option<Trigger>,
    error: bool,
    all: Vec<Value>,
}

impl Values<'_> {
    /// A message with a role.
    fn message(&mut self, head: &Head, room: &Room) {
        let Some(words) = self.words else { return };
        if head.role == b"\"bashExecution\"" {
            self.tool = self.tools.name(Some(b"\"bash\""));
            self.string("message.output", head.output, words, head.excluded);
            return;
        }
        self.string("message.content", head.content, words, false);
        for (index, block) in room.blocks.iter().enumerate() {
            self.block(index, block, room, words);
        }
    }

    /// A row of the seed's: content stands in the row, or in a message whose type is the row's.
    fn flat(&mut self, head: &Head, room: &Room) {
        let Some(words) = self.words else { return };
        self.tools.called(head.call.map(|at| at.of(self.line)), self.tool.as_ref());
        let tool = self.tool.clone();
        self.string("message", head.text, words, false);
        self.strings(&room.flat, words, tool.as_ref(), false);
        self.message(head, room);
    }

    fn block(&mut self, index: usize, block: &Block, room: &Room, words: Trigger) {
        let strings = room.strings.get(block.strings.0..block.strings.1).unwrap_or_default();
        let at = |field: &str| {
            let mut key = String::from("message.content");
            strings::numbered(&mut key, index);
            key.push_str(field);
            key
        };
        let json = |span: Option<Span>| span.map(|at| at.of(self.line));
        match block.kind.of(self.line) {
            b"\"text\"" => self.keyed(|| at(".text"), block.text, words),
            b"\"thinking\"" if !block.signed => {
                self.keyed(|| at(".thinking"), block.thinking, Trigger::Thinking);
            }
            b"\"thinking\"" | b"\"redacted_thinking\"" => {
                let text = block.thinking.or(block.data);
                let chars = text.map_or(0, |at| chars::count(at.of(self.line)));
                if counts(block.span.of(self.line)) {
                    self.add(at(""), Trigger::Thinking, block.span, chars, None, false, true);
                }
            }
            b"\"toolCall\"" | b"\"tool_use\"" => {
                let (name, id) = (json(block.name), json(block.id));
                let tool = self.tools.name(name);
                self.tools.called(id, tool.as_ref());
                self.strings(strings, Trigger::ToolCall, tool.as_ref(), false);
            }
            b"\"tool_result\"" => {
                let tool = self.tools.of_call(json(block.call));
                self.error |= block.error;
                self.tool = self.tool.take().or_else(|| tool.clone());
                let first = self.all.len();
                self.keyed(|| at(".content"), block.content, Trigger::ToolResult);
                let text = |found: &&Found| found.key.rsplit('.').next() == Some("text");
                let texts = strings.iter().filter(text);
                for found in texts {
                    self.found(found, Trigger::ToolResult, tool.as_ref(), false);
                }
                for value in &mut self.all[first..] {
                    value.tool.clone_from(&tool);
                }
            }
            _ => {}
        }
    }

    fn strings(&mut self, all: &[Found], trigger: Trigger, tool: Option<&Arc<str>>, copy: bool) {
        for found in all {
            self.found(found, trigger, tool, copy);
        }
    }

    fn found(&mut self, found: &Found, trigger: Trigger, tool: Option<&Arc<str>>, copy: bool) {
        let chars = chars::count(found.span.of(self.line));
        self.add(found.key.clone(), trigger, found.span, chars, tool, copy, false);
    }

    fn string(&mut self, key: &str, at: Option<Span>, trigger: Trigger, copy: bool) {
        self.keyed(|| key.to_owned(), at, trigger);
        if let Some(value) = self.all.last_mut().filter(|value| copy && value.key == key) {
            value.copy = true;
        }
    }

    /// A string of which the key is made only where it counts.
    fn keyed(&mut self, key: impl FnOnce() -> String, at: Option<Span>, trigger: Trigger) {
        let Some(at) = at else { return };
        let json = at.of(self.line);
        if json.first() == Some(&b'"') && counts(json) {
            self.add(key(), trigger, at, chars::count(json), None, false, false);
        }
    }

    #[allow(clippy::too_many_arguments, reason = "a value has that many parts")]
    fn add(
        &mut self,
        key: String,
        trigger: Trigger,
        span: Span,
        chars: u32,
        tool: Option<&Arc<str>>,
        copy: bool,
        whole: bool,
    ) {
        let of_row = self.tool.as_ref().filter(|_| trigger == Trigger::ToolResult);
        let tool = tool.or(of_row).map(Arc::clone);
        self.all.push(Value { key, trigger, span, chars, tool, copy, whole });
    }
}

/// Whether a name stands twice in an object: then a key says too little.
fn twice(values: &[Value]) -> bool {
    let mut keys = HashSet::new();
    values.len() > 1 && !values.iter().all(|value| keys.insert(value.key.as_str()))
}

fn extractable(json: &[u8]) -> Option<Extractable> {
    match json {
        b"true" => Some(Extractable::Always),
        b"false" => Some(Extractable::Never),
        number => std::str::from_utf8(number).ok()?.parse().ok().map(Extractable::After),
    }
}

fn restored(json: &[u8]) -> Option<Time> {
    Some(DateTime::parse_from_rfc3339(&text(json)?).ok()?.to_utc())
}
