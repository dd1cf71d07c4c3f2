//! A row, read on one way through it: its fields, its message, the message's blocks. What a
//! field means depends on others that may come later, so places are kept, and judged behind.

use super::Value;
use super::key::{Keys, numbered};
use super::strings::{self, CALL, CONTENT, Found, SEAL, SIGNATURE};
use sessions::span::{Cursor, Span, plain};

/// How a row is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// pi's and `OpenClaw`'s: `type: "message"` around a message with a role.
    Pi,
    /// Claude Code's: it has a `uuid`.
    Claude,
    /// A row without a `message`: its type says what it is.
    Flat,
}

/// What a row hangs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parent<'a> {
    /// It doesn't say: on the row before.
    #[default]
    Before,
    /// On none.
    None,
    /// On that one.
    Row(&'a str),
}

/// Places in a row: fields of its outermost object (`kind` to `summary_of`), of its message.
#[derive(Debug, Clone, Copy, Default)]
pub struct Head<'a> {
    /// `type`, as JSON; likewise the next.
    pub kind: &'a [u8],
    pub subtype: &'a [u8],
    pub own_id: Option<&'a str>,
    pub row_id: Option<&'a str>,
    pub uuid: Option<&'a str>,
    pub parent: Parent<'a>,
    pub extractable: Option<Span>,
    pub restored: Option<Span>,
    pub first_kept: Option<&'a str>,
    /// A row of Claude Code's is on a side chain; it sums up what was compacted.
    pub sidechain: bool,
    pub summary: bool,
    /// The tool that a flat row names, and its id of the call.
    pub tool: Option<Span>,
    pub call: Option<Span>,
    pub error: bool,
    /// What a flat call was given, where that is an object.
    pub given: Option<Span>,
    /// A flat row with a signature that isn't empty.
    pub signed: bool,
    /// Its text has a signature that isn't empty.
    pub sealed: bool,
    /// The message is a string.
    pub text: Option<Span>,
    /// Fields of the message.
    pub role: &'a [u8],
    pub message_id: Option<Span>,
    pub content: Option<Span>,
    /// What a command of the user's printed, and whether the model isn't told.
    pub output: Option<Span>,
    pub excluded: bool,
}

/// A block of a message.
#[derive(Debug, Clone, Copy, Default)]
pub struct Block {
    /// All of it.
    pub span: Span,
    /// `type`, as a place; likewise the others.
    pub kind: Span,
    pub text: Option<Span>,
    pub thinking: Option<Span>,
    pub data: Option<Span>,
    pub name: Option<Span>,
    pub id: Option<Span>,
    pub call: Option<Span>,
    pub content: Option<Span>,
    /// What a call was given.
    pub given: Option<Span>,
    /// It has a signature that isn't empty.
    pub signed: bool,
    /// Its text, or its arguments, have one that isn't empty.
    pub sealed: bool,
    pub error: bool,
    /// Which of [`Room::strings`] are in its arguments or its result.
    pub strings: (usize, usize),
}

/// Room to work in, so that nothing is allocated a row, and what was found in the row read last.
#[derive(Debug, Default)]
pub struct Room {
    /// The message's blocks.
    pub blocks: Vec<Block>,
    /// Strings in the blocks' arguments and results.
    pub strings: Vec<Found>,
    /// Strings in copies.
    pub copies: Vec<Found>,
    /// Fields that are values in a flat row: strings, and what is in objects.
    pub flat: Vec<Found>,
    /// The keys of all these.
    pub keys: Keys,
    /// Values, on their way.
    pub values: Vec<Value>,
    path: String,
}

impl<'a> Head<'a> {
    /// The entry's id. A header's is the session's.
    pub fn id(&self) -> Option<&'a str> {
        let id = self.uuid.or(self.own_id).or(self.row_id)?;
        (self.kind != b"\"session\"" && !id.is_empty()).then_some(id)
    }

    /// How the row is written.
    pub fn shape(&self) -> Shape {
        match self.kind {
            _ if self.uuid.is_some() => Shape::Claude,
            b"\"message\"" => Shape::Pi,
            _ => Shape::Flat,
        }
    }

    fn field(&mut self, cursor: &mut Cursor, line: &'a [u8], room: &mut Room) -> Option<()> {
        let name = cursor.name()?.of(line);
        match (name, cursor.peek()?) {
            (b"message", b'{') => return self.message(cursor, line, room),
            (b"message", _) => self.text = Some(cursor.value()?),
            (b"toolUseResult" | b"details", _) => return copies(cursor, line, name, "", room),
            _ if CONTENT.contains(&name) => return self.flat(cursor, line, name, room),
            _ => {
                let value = cursor.value()?;
                let json = value.of(line);
                match name {
                    b"type" => self.kind = json,
                    b"subtype" => self.subtype = json,
                    b"__id" => self.own_id = plain(json),
                    b"id" => self.row_id = plain(json),
                    b"uuid" => self.uuid = plain(json),
                    b"parentId" | b"parentUuid" => {
                        self.parent = plain(json).map_or(Parent::None, Parent::Row);
                    }
                    b"_extractable" => self.extractable = Some(value),
                    b"_restored" => self.restored = Some(value),
                    b"firstKeptEntryId" => self.first_kept = plain(json),
                    b"isSidechain" => self.sidechain = json == b"true",
                    b"isCompactSummary" => self.summary = json == b"true",
                    b"name" | b"tool" | b"toolName" | b"tool_name" => self.tool = Some(value),
                    _ if CALL.contains(&name) => self.call = Some(value),
                    _ if SIGNATURE.contains(&name) => self.signed |= strings::signs(json),
                    _ if SEAL.contains(&name) => self.sealed |= strings::signs(json),
                    b"isError" | b"is_error" => self.error |= json == b"true",
                    _ => {}
                }
            }
        }
        Some(())
    }

    /// Content that stands in the row itself.
    fn flat(
        &mut self,
        cursor: &mut Cursor,
        line: &'a [u8],
        name: &[u8],
        room: &mut Room,
    ) -> Option<()> {
        room.path.clear();
        room.path.push_str(std::str::from_utf8(name).ok()?);
        let Room { path, keys, flat, .. } = room;
        let span = strings::below(cursor, line, path, keys, flat)?;
        // A field of that name with more than `false` in it says that it went wrong.
        let failed = !matches!(span.of(line), b"false" | b"null" | b"\"\"");
        self.error |= name == b"error" && failed;
        if matches!(name, b"arguments" | b"input" | b"params") {
            self.given = Some(span);
        }
        Some(())
    }

    fn message(&mut self, cursor: &mut Cursor, line: &'a [u8], room: &mut Room) -> Option<()> {
        let mut more = cursor.enter(b'{')?;
        while more {
            let name = cursor.name()?.of(line);
            match (name, cursor.peek()?) {
                (b"content", _) if self.content.is_some() || !room.blocks.is_empty() => {
                    cursor.value()?;
                }
                (b"content", b'[') => {
                    let mut more = cursor.enter(b'[')?;
                    while more {
                        block(cursor, line, room)?;
                        more = cursor.more(b']')?;
                    }
                }
                (b"details", _) => copies(cursor, line, name, "message.", room)?,
                _ => {
                    let value = cursor.value()?;
                    let json = value.of(line);
                    match name {
                        b"role" => self.role = json,
                        b"id" => self.message_id = Some(value),
                        b"content" => self.content = Some(value),
                        b"output" => self.output = Some(value),
                        b"toolName" | b"tool_name" | b"name" => self.tool = Some(value),
                        _ if CALL.contains(&name) => self.call = Some(value),
                        b"isError" | b"is_error" => self.error |= json == b"true",
                        b"excludeFromContext" => self.excluded = json == b"true",
                        _ if SIGNATURE.contains(&name) => self.signed |= strings::signs(json),
                        _ if SEAL.contains(&name) => self.sealed |= strings::signs(json),
                        _ => {}
                    }
                }
            }
            more = cursor.more(b'}')?;
        }
        Some(())
    }
}

/// Reads a row; what is in its blocks, copies and fields stays in `room`. `None` where it is no
/// object.
pub fn head<'a>(line: &'a [u8], room: &mut Room) -> Option<Head<'a>> {
    room.blocks.clear();
    room.strings.clear();
    room.copies.clear();
    room.flat.clear();
    let (mut head, mut cursor) = (Head::default(), Cursor::new(line));
    let mut more = cursor.enter(b'{')?;
    while more {
        head.field(&mut cursor, line, room)?;
        more = cursor.more(b'}')?;
    }
    cursor.ended().then_some(head)
}

/// Strings of a second copy.
fn copies(
    cursor: &mut Cursor,
    line: &[u8],
    name: &[u8],
    in_front: &str,
    room: &mut Room,
) -> Option<()> {
    let Room { path, keys, copies, .. } = room;
    path.clear();
    path.push_str(in_front);
    path.push_str(std::str::from_utf8(name).ok()?);
    strings::below(cursor, line, path, keys, copies)?;
    Some(())
}

/// Reads an item of a message's content.
fn block(cursor: &mut Cursor, line: &[u8], room: &mut Room) -> Option<()> {
    let start = cursor.at();
    let begun = room.strings.len();
    let mut block = Block::default();
    if cursor.peek() == Some(b'{') {
        let mut more = cursor.enter(b'{')?;
        while more {
            let name = cursor.name()?.of(line);
            match (name, cursor.peek()?) {
                (b"arguments" | b"input", _) | (b"content", b'[') => {
                    let Room { path, keys, strings, blocks, .. } = &mut *room;
                    path.clear();
                    path.push_str("message.content");
                    numbered(path, blocks.len());
                    path.push('.');
                    path.push_str(std::str::from_utf8(name).ok()?);
                    let value = strings::below(cursor, line, path, keys, strings)?;
                    if name != b"content" {
                        block.given = Some(value);
                    }
                }
                _ => block.field(name, cursor.value()?, line),
            }
            more = cursor.more(b'}')?;
        }
    } else {
        cursor.value()?;
    }
    block.span = Span { start, end: cursor.at() };
    block.strings = (begun, room.strings.len());
    room.blocks.push(block);
    Some(())
}

impl Block {
    fn field(&mut self, name: &[u8], value: Span, line: &[u8]) {
        match name {
            b"type" => self.kind = value,
            b"text" => self.text = Some(value),
            b"thinking" => self.thinking = Some(value),
            b"data" => self.data = Some(value),
            b"name" => self.name = Some(value),
            b"id" => self.id = Some(value),
            b"tool_use_id" => self.call = Some(value),
            b"content" => self.content = Some(value),
            _ if SIGNATURE.contains(&name) => self.signed |= strings::signs(value.of(line)),
            _ if SEAL.contains(&name) => self.sealed |= strings::signs(value.of(line)),
            b"is_error" => self.error = value.of(line) == b"true",
            _ => {}
        }
    }
}
