//! Reads a row in one pass: its fields, its message, the message's blocks. A field's meaning may
//! depend on later ones, so positions are recorded here and judged afterwards.

use super::Value;
use super::key::{Keys, numbered};
use super::strings::{self, CALL, CONTENT, Found, SEAL, SIGNATURE};
use sessions::span::{Cursor, Span, plain};

/// The format of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// pi and `OpenClaw`: `type: "message"` around a message with a role.
    Pi,
    /// Claude Code: it has a `uuid`.
    Claude,
    /// A row without a `message`: its type says what it is.
    Flat,
}

/// The parent of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parent<'a> {
    /// Not given: the row before.
    #[default]
    Before,
    /// No row.
    None,
    /// That row.
    Row(&'a str),
}

/// Positions in a row: fields of its outermost object (`kind` to `text`), then of its message.
#[derive(Debug, Clone, Copy, Default)]
pub struct Head<'a> {
    /// `type`, as JSON; the next field likewise.
    pub kind: &'a [u8],
    pub subtype: &'a [u8],
    pub own_id: Option<&'a str>,
    pub row_id: Option<&'a str>,
    pub uuid: Option<&'a str>,
    pub parent: Parent<'a>,
    pub extractable: Option<Span>,
    pub restored: Option<Span>,
    pub at: Option<&'a str>,
    /// Only Claude Code: the row is on a side chain; it is a compaction's summary.
    pub sidechain: bool,
    pub summary: bool,
    /// The tool and the call's id that a flat row names.
    pub tool: Option<Span>,
    pub call: Option<Span>,
    pub error: bool,
    /// The input of a flat call, if it is an object.
    pub given: Option<Span>,
    /// A flat row with a signature that is not empty.
    pub signed: bool,
    /// Its text has a signature that is not empty.
    pub sealed: bool,
    /// The message, if it is a string.
    pub text: Option<Span>,
    /// Fields of the message.
    pub role: &'a [u8],
    pub message_id: Option<Span>,
    pub content: Option<Span>,
    /// The output of a command that the user ran, and whether the model does not receive it.
    pub output: Option<Span>,
    pub excluded: bool,
}

/// A block of a message.
#[derive(Debug, Clone, Copy, Default)]
pub struct Block {
    /// The whole block.
    pub span: Span,
    /// `type`, as a position; likewise the others.
    pub kind: Span,
    pub text: Option<Span>,
    pub thinking: Option<Span>,
    pub data: Option<Span>,
    pub name: Option<Span>,
    pub id: Option<Span>,
    pub call: Option<Span>,
    pub content: Option<Span>,
    /// The input of a call.
    pub given: Option<Span>,
    /// It has a signature that is not empty.
    pub signed: bool,
    /// Its text or its arguments have a signature that is not empty.
    pub sealed: bool,
    pub error: bool,
    /// The range of [`Room::strings`] in its arguments or its result.
    pub strings: (usize, usize),
}

/// Buffers, so that no row allocates, and what was found in the last row read.
#[derive(Debug, Default)]
pub struct Room {
    /// The message's blocks.
    pub blocks: Vec<Block>,
    /// Strings in the blocks' arguments and results.
    pub strings: Vec<Found>,
    /// Strings in copies.
    pub copies: Vec<Found>,
    /// Values in the fields of a flat row: strings, also those inside objects.
    pub flat: Vec<Found>,
    /// The keys of all these.
    pub keys: Keys,
    /// A buffer for values.
    pub values: Vec<Value>,
    path: String,
}

impl<'a> Head<'a> {
    /// The entry's id; the id of a header is the session's.
    pub fn id(&self) -> Option<&'a str> {
        let id = self.uuid.or(self.own_id).or(self.row_id)?;
        (self.kind != b"\"session\"" && !id.is_empty()).then_some(id)
    }

    /// The row's format.
    pub fn shape(&self) -> Shape {
        match self.kind {
            _ if self.uuid.is_some() => Shape::Claude,
            b"\"message\"" => Shape::Pi,
            _ => Shape::Flat,
        }
    }

    fn field(&mut self, cursor: &mut Cursor, line: &'a [u8], room: &mut Room) -> Option<()> {
        let name = cursor.name()?.slice(line);
        match (name, cursor.peek()?) {
            (b"message", b'{') => return self.message(cursor, line, room),
            (b"message", _) => self.text = Some(cursor.value()?),
            (b"toolUseResult" | b"details", _) => return copies(cursor, line, name, "", room),
            _ if CONTENT.contains(&name) => return self.flat(cursor, line, name, room),
            _ => {
                let value = cursor.value()?;
                let json = value.slice(line);
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
                    b"timestamp" => self.at = plain(json),
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

    /// Reads content that is in the row itself.
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
        let span = strings::collect_strings(cursor, line, path, keys, flat)?;
        // An `error` field with a value other than `false` means a failure.
        let failed = !matches!(span.slice(line), b"false" | b"null" | b"\"\"");
        self.error |= name == b"error" && failed;
        if matches!(name, b"arguments" | b"input" | b"params") {
            self.given = Some(span);
        }
        Some(())
    }

    fn message(&mut self, cursor: &mut Cursor, line: &'a [u8], room: &mut Room) -> Option<()> {
        let mut more = cursor.enter(b'{')?;
        while more {
            let name = cursor.name()?.slice(line);
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
                    let json = value.slice(line);
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

/// Reads a row; `room` keeps what is in its blocks, copies and fields. `None` if it is not an
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

/// Reads the strings of a second copy.
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
    strings::collect_strings(cursor, line, path, keys, copies)?;
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
            let name = cursor.name()?.slice(line);
            match (name, cursor.peek()?) {
                (b"arguments" | b"input", _) | (b"content", b'[') => {
                    let Room { path, keys, strings, blocks, .. } = &mut *room;
                    path.clear();
                    path.push_str("message.content");
                    numbered(path, blocks.len());
                    path.push('.');
                    path.push_str(std::str::from_utf8(name).ok()?);
                    let value = strings::collect_strings(cursor, line, path, keys, strings)?;
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
            _ if SIGNATURE.contains(&name) => self.signed |= strings::signs(value.slice(line)),
            _ if SEAL.contains(&name) => self.sealed |= strings::signs(value.slice(line)),
            b"is_error" => self.error = value.slice(line) == b"true",
            _ => {}
        }
    }
}
