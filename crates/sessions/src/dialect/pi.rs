//! Sessions of pi and of `OpenClaw` up to 2026.7.1 (entries of version 3, as pi 0.73 and
//! 1.5 write them).

use std::borrow::Cow;

use super::{Block, BlockKind, Call, Dialect, Kind, Row, Scratch};
use super::{Facts, LEFT_OUT};
use crate::span::{self, Field, Span};

/// pi and `OpenClaw`.
#[derive(Debug)]
pub struct Pi;

/// Whether a line is the header of such a file.
pub fn is_header(line: &[u8]) -> bool {
    let mut fields = Vec::new();
    span::fields(line, &mut fields).is_some()
        && span::get(line, &fields, "type") == Some(b"\"session\"")
}

impl Dialect for Pi {
    fn has_header(&self) -> bool {
        true
    }

    fn name(&self) -> &'static str {
        "pi"
    }

    fn row<'a>(&self, line: &'a [u8], scratch: &mut Scratch) -> Row<'a> {
        let row = read(line, scratch);
        let mut blocks = std::mem::take(&mut scratch.blocks);
        self.blocks(line, &row, scratch, &mut blocks);
        scratch.blocks = blocks;
        row
    }

    fn blocks(&self, line: &[u8], row: &Row, scratch: &mut Scratch, found: &mut Vec<Block>) {
        found.clear();
        // A compaction's summary is not part of a message.
        let Some(content) = row.content.filter(|_| row.kind != Kind::Boundary) else { return };
        let words = match row.kind {
            Kind::Assistant => BlockKind::AssistantText,
            Kind::ToolResult => BlockKind::ToolResult,
            _ => BlockKind::UserText,
        };
        let json = content.slice(line);
        // A tool result is one message: its texts belong together.
        if words == BlockKind::ToolResult || json.first() == Some(&b'"') {
            found.push(Block { kind: words, span: content });
            return;
        }
        let mut spans = std::mem::take(&mut scratch.spans);
        if span::items(json, &mut spans).is_some() {
            for item in &spans {
                let bytes = item.slice(json);
                let kind = match span::fields(bytes, &mut scratch.message)
                    .and_then(|_| span::get(bytes, &scratch.message, "type"))
                {
                    Some(b"\"text\"") => words,
                    Some(b"\"thinking\"") => BlockKind::Thinking,
                    Some(b"\"toolCall\"") => BlockKind::ToolUse,
                    Some(b"\"image\"") => BlockKind::Media,
                    _ => BlockKind::Row,
                };
                found.push(Block { kind, span: item.shifted(content.start) });
            }
        }
        scratch.spans = spans;
    }

    fn call<'a>(&self, block: &'a [u8]) -> Option<Call<'a>> {
        super::call(block, "arguments")
    }

    fn said<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        (!text.starts_with(LEFT_OUT)).then_some(Cow::Borrowed(text))
    }

    fn queued(&self, _: &[u8]) -> Option<String> {
        None
    }

    fn attached<'a>(&self, _: &'a [u8]) -> Option<(&'a str, &'a [u8])> {
        None
    }

    fn facts(&self, line: &[u8], facts: &mut Facts) {
        if !is_header(line) {
            return;
        }
        let mut fields = Vec::new();
        span::fields(line, &mut fields);
        let field = |name| span::get(line, &fields, name).and_then(span::text).map(Cow::into_owned);
        facts.id = field("id");
        facts.cwd = field("cwd");
        facts.parent = field("parentSession");
    }
}

/// A row's head.
fn read<'a>(line: &'a [u8], scratch: &mut Scratch) -> Row<'a> {
    if !whole(line, &mut scratch.fields) {
        return Row::of(Kind::Broken);
    }
    let mut row = Row::of(Kind::Other);
    let (mut kind, mut message, mut summary) = (&b""[..], None, None);
    for Field { name, value } in &scratch.fields {
        let json = value.slice(line);
        match name.slice(line) {
            b"type" => kind = json,
            b"id" => row.id = span::plain(json),
            b"parentId" => row.parent = span::plain(json),
            b"timestamp" => row.at = span::plain(json),
            b"message" => message = Some(*value),
            b"forkedFrom" => row.copied = Some(json),
            b"summary" | b"content" => summary = Some(*value),
            _ => {}
        }
    }
    row.kind = match kind {
        // The header's id is the session's, not an entry's.
        b"\"session\"" => {
            row.id = None;
            Kind::Other
        }
        b"\"compaction\"" => {
            row.content = summary;
            Kind::Boundary
        }
        b"\"branch_summary\"" | b"\"custom_message\"" => Kind::Attachment,
        b"\"message\"" => message.map_or(Kind::System, |at| role(line, at, &mut row, scratch)),
        _ if row.id.is_some() => Kind::System,
        _ => Kind::Other,
    };
    row
}

/// Whether a line is exactly one object; collects its fields.
fn whole(line: &[u8], fields: &mut Vec<Field>) -> bool {
    let end = span::fields(line, fields);
    end.is_some_and(|end| line[end..].trim_ascii().is_empty())
}

fn role<'a>(line: &'a [u8], at: Span, row: &mut Row<'a>, scratch: &mut Scratch) -> Kind {
    let json = at.slice(line);
    if span::fields(json, &mut scratch.message).is_none() {
        return Kind::System;
    }
    let mut kind = Kind::System;
    for Field { name, value } in &scratch.message {
        match name.slice(json) {
            b"role" => {
                kind = match value.slice(json) {
                    b"\"user\"" => Kind::Prompt,
                    b"\"assistant\"" => Kind::Assistant,
                    b"\"toolResult\"" => Kind::ToolResult,
                    _ => Kind::Notice,
                }
            }
            b"content" => row.content = Some(value.shifted(at.start)),
            b"model" => row.model = span::plain(value.slice(json)),
            b"usage" => row.used = crate::usage::pi_total(value.slice(json)),
            _ => {}
        }
    }
    kind
}
