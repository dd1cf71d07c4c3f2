//! Reads the head of a row, its message and the message's blocks in one pass.

use super::is_notice;
use crate::dialect::{Block, BlockKind, Kind, Row, Scratch, is_surgery_table};
use crate::model::SYNTHETIC;
use crate::span::{self, Cursor, Field, Span};
use crate::usage;

/// Reads a row; `scratch` keeps what was found.
pub fn row<'a>(line: &'a [u8], scratch: &mut Scratch) -> Row<'a> {
    scratch.fields.clear();
    scratch.blocks.clear();
    let (mut cursor, mut head) = (Cursor::new(line), Head::default());
    match head.read(&mut cursor, line, scratch) {
        Some(()) if cursor.ended() => head.row(scratch),
        _ => {
            scratch.blocks.clear();
            Row::of(Kind::Broken)
        }
    }
}

/// The blocks of the content at `content`, in a row of that kind.
pub fn blocks(line: &[u8], content: Span, kind: Kind, found: &mut Vec<Block>) {
    let mut message = Message::default();
    if message.content(&mut Cursor::from(line, content.start), line, found).is_none() {
        found.clear();
    }
    words(kind, found);
}

/// Marks the texts of an assistant's message as the agent's.
fn words(kind: Kind, blocks: &mut [Block]) {
    if kind == Kind::Assistant {
        for block in blocks.iter_mut().filter(|block| block.kind == BlockKind::UserText) {
            block.kind = BlockKind::AssistantText;
        }
    }
}

/// What a row's fields say.
#[derive(Debug, Default)]
struct Head<'a> {
    row: Row<'a>,
    kind: &'a [u8],
    subtype: &'a [u8],
    logical: Option<&'a str>,
    /// The client says that it wrote the row.
    client: bool,
    summary: bool,
    synthetic: bool,
    message: Message,
}

/// Which blocks a message has.
#[derive(Debug, Default)]
struct Message {
    texts: bool,
    /// A text is the user's own, not a notice.
    said: bool,
    result: bool,
    other: bool,
}

impl<'a> Head<'a> {
    /// Reads a row; `None` if it is not an object.
    fn read(&mut self, cursor: &mut Cursor, line: &'a [u8], scratch: &mut Scratch) -> Option<()> {
        let mut more = cursor.enter(b'{')?;
        while more {
            let name = cursor.name()?;
            let start = cursor.at();
            if name.slice(line) == b"message" && cursor.peek() == Some(b'{') {
                self.message(cursor, line, &mut scratch.blocks)?;
            } else {
                let json = cursor.value()?.slice(line);
                match name.slice(line) {
                    b"type" => self.kind = json,
                    b"subtype" => self.subtype = json,
                    b"uuid" => self.row.id = span::plain(json),
                    b"parentUuid" => self.row.parent = span::plain(json),
                    b"logicalParentUuid" => self.logical = span::plain(json),
                    b"timestamp" => self.row.at = span::plain(json),
                    b"isSidechain" => self.row.sidechain = json == b"true",
                    field @ (b"isMeta" | b"isVisibleInTranscriptOnly" | b"origin") => {
                        self.client |= is_client_field(field, json);
                    }
                    b"brainGuard" => {
                        (self.row.told, self.row.made) = (is_surgery_table(json), true);
                    }
                    b"forkedFrom" => self.row.copied = Some(json),
                    b"isCompactSummary" => self.summary = json == b"true",
                    _ => {}
                }
            }
            scratch.fields.push(Field { name, value: Span { start, end: cursor.at() } });
            more = cursor.more(b'}')?;
        }
        Some(())
    }

    fn message(
        &mut self,
        cursor: &mut Cursor,
        line: &'a [u8],
        found: &mut Vec<Block>,
    ) -> Option<()> {
        let mut more = cursor.enter(b'{')?;
        while more {
            let name = cursor.name()?;
            match (name.slice(line), cursor.peek()?) {
                (b"content", _) => {
                    let start = cursor.at();
                    self.message.content(cursor, line, found)?;
                    self.row.content = Some(Span { start, end: cursor.at() });
                }
                (b"id", _) => self.row.message = span::plain(cursor.value()?.slice(line)),
                (b"model", _) => {
                    self.row.model = span::plain(cursor.value()?.slice(line));
                    self.synthetic = self.row.model == Some(SYNTHETIC);
                }
                (b"usage", b'{') => self.row.used = usage::total_at(cursor, line)?,
                _ => {
                    cursor.value()?;
                }
            }
            more = cursor.more(b'}')?;
        }
        Some(())
    }

    /// Finishes the row; its kind decides what its blocks are.
    fn row(self, scratch: &mut Scratch) -> Row<'a> {
        let mut row = self.row;
        row.kind = match self.kind {
            b"\"user\"" if self.summary => Kind::Summary,
            b"\"user\"" => self.message.kind(self.client),
            b"\"assistant\"" => Kind::Assistant,
            b"\"attachment\"" => Kind::Attachment,
            b"\"system\"" if self.subtype == b"\"compact_boundary\"" => {
                row.parent = row.parent.or(self.logical);
                Kind::Boundary
            }
            b"\"system\"" => Kind::System,
            _ => Kind::Other,
        };
        if !matches!(self.kind, b"\"user\"" | b"\"assistant\"") {
            // Bookkeeping rows hold copies of messages.
            (row.content, row.message, row.used) = (None, None, None);
            scratch.blocks.clear();
        }
        if self.synthetic {
            (row.used, row.model) = (None, None);
        }
        words(row.kind, &mut scratch.blocks);
        row
    }
}

/// Whether a field of a row in the user's role says that the client wrote it.
pub fn is_client_field(field: &[u8], json: &[u8]) -> bool {
    match field {
        b"isMeta" | b"isVisibleInTranscriptOnly" => json == b"true",
        b"origin" => span::find(json, "kind") == Some(br#""task-notification""#),
        _ => false,
    }
}

impl Message {
    /// The kind of a row in the user's role: a message if one of its texts is somebody's, or if it
    /// only has images.
    fn kind(&self, client: bool) -> Kind {
        if self.result {
            Kind::ToolResult
        } else if !client && (self.said || (self.other && !self.texts)) {
            Kind::Prompt
        } else {
            Kind::Notice
        }
    }

    /// Reads a message's content; collects its blocks.
    fn content(&mut self, cursor: &mut Cursor, line: &[u8], found: &mut Vec<Block>) -> Option<()> {
        if cursor.peek() != Some(b'[') {
            let span = cursor.value()?;
            if line[span.start] == b'"' {
                (self.texts, self.said) = (true, !is_notice(span.slice(line)));
                found.push(Block { kind: BlockKind::UserText, span });
            }
            return Some(());
        }
        let mut more = cursor.enter(b'[')?;
        while more {
            let start = cursor.at();
            let kind = if cursor.peek() == Some(b'{') {
                self.block(cursor, line)?
            } else {
                cursor.value()?;
                self.other = true;
                BlockKind::Row
            };
            found.push(Block { kind, span: Span { start, end: cursor.at() } });
            more = cursor.more(b']')?;
        }
        Some(())
    }

    fn block(&mut self, cursor: &mut Cursor, line: &[u8]) -> Option<BlockKind> {
        let (mut kind, mut text) = (&b""[..], None);
        let mut more = cursor.enter(b'{')?;
        while more {
            let name = cursor.name()?;
            let json = cursor.value()?.slice(line);
            match name.slice(line) {
                b"type" => kind = json,
                b"text" => text = Some(json),
                _ => {}
            }
            more = cursor.more(b'}')?;
        }
        Some(match kind {
            b"\"text\"" => {
                self.texts = true;
                self.said |= text.is_some_and(|text| !is_notice(text));
                BlockKind::UserText
            }
            b"\"tool_result\"" => {
                self.result = true;
                BlockKind::ToolResult
            }
            kind => {
                self.other = true;
                match kind {
                    b"\"thinking\"" | b"\"redacted_thinking\"" => BlockKind::Thinking,
                    b"\"tool_use\"" | b"\"server_tool_use\"" => BlockKind::ToolUse,
                    b"\"image\"" | b"\"document\"" => BlockKind::Media,
                    _ => BlockKind::Row,
                }
            }
        })
    }
}
