//! Turns a row's positions into an entry and its values, for each format.

use std::sync::Arc;

use super::key::{Key, Keys};
use super::own::{extractable, restored};
use super::read::{Block, Head, Room, Shape};
use super::strings::{Found, counts};
use super::tools::{Calls, Names};
use super::{Entry, Role, Trigger, Value, chars, cut, hash};
use crate::redact::is_purge_control;
use sessions::flat;
use sessions::span::{Span, plain};

/// The entry of a row, without its id and number, and without what earlier calls tell about its
/// results. Values of at least `compared` characters are made comparable.
pub fn of(
    line: &[u8],
    head: &Head,
    room: &mut Room,
    names: &mut Names,
    compared: Option<u32>,
) -> (Entry, Calls) {
    let shape = head.shape();
    let (role, words) = find_author(head, shape);
    let tool = names.of(head.tool.map(|at| at.slice(line)));
    let mut calls = Calls::default();
    if role == Role::Tool {
        calls.of_row(head.call.map(|at| at.slice(line)));
    }
    let mut keys = std::mem::take(&mut room.keys);
    let all = std::mem::take(&mut room.values);
    let mut found = Values {
        line,
        names,
        keys: &mut keys,
        calls,
        tool,
        words,
        row_error: head.error,
        error: head.error,
        in_place: shape != Shape::Claude,
        compared,
        broken: false,
        all,
    };
    match shape {
        Shape::Flat => found.flat(head, room),
        Shape::Pi | Shape::Claude => found.message(head, room),
    }
    if let Some(trigger) = words {
        let copied = if trigger == Trigger::User { Trigger::ToolResult } else { trigger };
        found.strings(&room.copies, copied, None, true);
    }
    let Values { mut all, calls, tool, error, broken, .. } = found;
    room.keys = keys;
    if !all.is_sorted_by_key(|value| value.span.start) {
        all.sort_unstable_by_key(|value| value.span.start);
    }
    let mut values = Vec::with_capacity(all.len());
    values.append(&mut all);
    // What was restored stays for a while, in the answer to the call as in its own place.
    let is_restore = tool.as_deref().is_some_and(is_purge_control);
    let at = head.restored.map(|at| at.slice(line));
    let answered = || head.at.filter(|_| is_restore)?.parse().ok();
    let said = head.extractable.map_or(Ok(None), |at| extractable(at.slice(line)));
    let unclear = said.is_err();
    let entry = Entry {
        row: 0,
        id: String::new(),
        role,
        summary: false,
        continues: false,
        tool,
        error,
        extractable: said.unwrap_or_default(),
        unclear,
        restored: at.and_then(restored).or_else(answered),
        in_context: false,
        written: Vec::new(),
        values,
        broken,
        doubled: 0,
        shared: 0,
    };
    room.values = all;
    (entry, calls)
}

/// Who wrote a row's message, and the type of its text; `None` if the text is the client's.
fn find_author(head: &Head, shape: Shape) -> (Role, Option<Trigger>) {
    let role = match shape {
        Shape::Flat if head.kind == b"\"custom_message\"" => {
            return (Role::None, Some(Trigger::User));
        }
        Shape::Flat => head.kind,
        Shape::Pi => head.role,
        Shape::Claude if matches!(head.kind, b"\"user\"" | b"\"assistant\"") => head.kind,
        Shape::Claude => return (Role::None, None),
    };
    match plain(role).unwrap_or_default() {
        // A command that the user ran, and the words of an extension.
        "bashExecution" => (Role::None, Some(Trigger::ToolResult)),
        "custom" if shape == Shape::Pi => (Role::None, Some(Trigger::User)),
        word => {
            flat::parse_author(word).map_or((Role::None, None), |(role, text)| (role, Some(text)))
        }
    }
}

/// Collects the values of a row.
struct Values<'a> {
    line: &'a [u8],
    names: &'a mut Names,
    keys: &'a mut Keys,
    calls: Calls,
    /// The tool that the row names.
    tool: Option<Arc<str>>,
    /// The type of the message's text.
    words: Option<Trigger>,
    /// The row says that its result is an error.
    row_error: bool,
    /// The same, or one of the results so far says so.
    error: bool,
    /// A block extracted as a whole leaves a text in its place, except in a successor of Claude
    /// Code.
    in_place: bool,
    compared: Option<u32>,
    /// A string is not valid JSON.
    broken: bool,
    all: Vec<Value>,
}

impl Values<'_> {
    /// Reads a message with a role.
    fn message(&mut self, head: &Head, room: &Room) {
        let Some(words) = self.words else { return };
        if head.role == b"\"bashExecution\"" {
            self.tool = self.names.of(Some(b"\"bash\""));
            self.string("message.output", head.output, words, head.excluded);
            return;
        }
        self.string("message.content", head.content, words, false);
        for (index, block) in room.blocks.iter().enumerate() {
            self.block(index, block, room, words);
        }
    }

    /// Reads a flat row: its content is in the row, or in a message of the row's type.
    fn flat(&mut self, head: &Head, room: &Room) {
        let Some(words) = self.words else { return };
        let (tool, first) = (self.tool.clone(), self.all.len());
        if words == Trigger::ToolCall {
            let json = |at: Option<Span>| at.map(|at| at.slice(self.line));
            let ids = [json(head.call).and_then(plain), head.row_id, head.own_id];
            self.calls.made(&ids, tool.as_ref(), json(head.given));
        }
        self.string("message", head.text, words, false);
        self.strings(&room.flat, words, tool.as_ref(), false);
        self.message(head, room);
        if head.sealed {
            self.all.truncate(first);
        } else if head.signed {
            // Reasoning is never separated from its signature, and a row cannot be extracted as a
            // whole.
            let reasons = |key: &str| words == Trigger::Thinking || key.starts_with("thinking");
            let found = self.all.split_off(first);
            self.all.extend(found.into_iter().filter(|value| value.whole || !reasons(&value.key)));
        }
    }

    fn block(&mut self, index: usize, block: &Block, room: &Room, words: Trigger) {
        let strings = room.strings.get(block.strings.0..block.strings.1).unwrap_or_default();
        let at = |field: &'static str| move |keys: &mut Keys| keys.in_block(index, field);
        let json = |span: Option<Span>| span.map(|at| at.slice(self.line));
        match block.kind.slice(self.line) {
            // It may be signed with its text, as reasoning is.
            b"\"text\"" if block.sealed && self.in_place => {
                self.whole(index, block, block.text, words);
            }
            b"\"text\"" if !block.sealed => self.keyed(at(".text"), block.text, words),
            b"\"thinking\"" if !block.signed => {
                self.keyed(at(".thinking"), block.thinking, Trigger::Thinking);
            }
            b"\"thinking\"" | b"\"redacted_thinking\"" => {
                self.whole(index, block, block.thinking.or(block.data), Trigger::Thinking);
            }
            b"\"toolCall\"" | b"\"tool_use\"" => {
                let (name, id) = (json(block.name), json(block.id));
                let tool = self.names.of(name);
                self.calls.made(&[id.and_then(plain)], tool.as_ref(), json(block.given));
                if !block.sealed {
                    self.strings(strings, Trigger::ToolCall, tool.as_ref(), false);
                }
            }
            b"\"tool_result\"" => {
                self.error |= block.error;
                self.calls.gave(json(block.call), block.span);
                let first = self.all.len();
                self.keyed(at(".content"), block.content, Trigger::ToolResult);
                let text = |found: &&Found| found.key.rsplit('.').next() == Some("text");
                let texts = strings.iter().filter(text);
                for found in texts {
                    self.found(found, Trigger::ToolResult, None, false);
                }
                for value in &mut self.all[first..] {
                    value.error = self.row_error || block.error;
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
        let chars = self.chars(found.span);
        self.add(found.key.clone(), trigger, found.span, chars, tool, copy, false);
    }

    fn string(&mut self, key: &str, at: Option<Span>, trigger: Trigger, copy: bool) {
        self.keyed(|keys| keys.of(key), at, trigger);
        if let Some(value) = self.all.last_mut().filter(|value| copy && value.key == key) {
            value.copy = true;
        }
    }

    /// Adds a string; makes its key only if it counts.
    fn keyed(&mut self, key: impl FnOnce(&mut Keys) -> Key, at: Option<Span>, trigger: Trigger) {
        let Some(at) = at else { return };
        let json = at.slice(self.line);
        if json.first() == Some(&b'"') && counts(json) {
            let chars = self.chars(at);
            let key = key(self.keys);
            self.add(key, trigger, at, chars, None, false, false);
        }
    }

    /// Characters of a string; an invalid one marks the row as broken.
    fn chars(&mut self, at: Span) -> u32 {
        chars::count(at.slice(self.line)).unwrap_or_else(|| {
            self.broken = true;
            0
        })
    }

    #[allow(clippy::too_many_arguments, reason = "a value has that many parts")]
    fn add(
        &mut self,
        key: Key,
        trigger: Trigger,
        span: Span,
        chars: u32,
        tool: Option<&Arc<str>>,
        copy: bool,
        whole: bool,
    ) {
        let tool = tool.map(Arc::clone);
        let compared = !whole && self.compared.is_some_and(|least| chars >= least);
        let same = if compared { hash(span.slice(self.line)) } else { 0 };
        // A copy does not say which of the row's results it belongs to.
        let error = self.error && trigger == Trigger::ToolResult;
        let result = trigger == Trigger::ToolResult && same != 0 && !copy;
        let (read, cut) = (None, result && cut::cut(span.slice(self.line)));
        self.all.push(Value {
            key,
            trigger,
            span,
            chars,
            tool,
            copy,
            whole,
            same,
            read,
            cut,
            error,
        });
    }

    /// Adds a block that is extracted with its signature; `text` gives its length.
    fn whole(&mut self, index: usize, block: &Block, text: Option<Span>, trigger: Trigger) {
        let chars = text.map_or(0, |at| self.chars(at));
        if counts(block.span.slice(self.line)) {
            let key = self.keys.in_block(index, "");
            self.add(key, trigger, block.span, chars, None, false, true);
        }
    }
}
