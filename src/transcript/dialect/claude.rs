//! Claude Code's transcripts (rows as written by client 2.1.329).

use super::{Block, BlockKind, Dialect, Kind, Row, Scratch};
use crate::transcript::span::{self, Field, Span};

/// Claude Code.
#[derive(Debug)]
pub struct Claude;

/// How texts begin that stand in the user's role and are nobody's message.
const NOTICES: [&[u8]; 8] = [
    b"<local-command-stdout>",
    b"<local-command-stderr>",
    b"<local-command-caveat>",
    b"<bash-stdout>",
    b"<bash-stderr>",
    b"<task-notification>",
    b"<system-reminder>",
    b"[Request interrupted by user",
];

impl Dialect for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn row<'a>(&self, line: &'a [u8], scratch: &mut Scratch) -> Row<'a> {
        if span::fields(line, &mut scratch.fields).is_none() {
            return Row::of(Kind::Broken);
        }
        let mut row = Row::of(Kind::Other);
        let (mut kind, mut subtype, mut message) = (&b""[..], &b""[..], None);
        let (mut meta, mut summary, mut logical) = (false, false, None);
        for Field { name, value } in &scratch.fields {
            let json = value.of(line);
            match name.of(line) {
                b"type" => kind = json,
                b"subtype" => subtype = json,
                b"uuid" => row.id = span::plain(json),
                b"parentUuid" => row.parent = span::plain(json),
                b"logicalParentUuid" => logical = span::plain(json),
                b"timestamp" => row.at = span::plain(json),
                b"isSidechain" => row.sidechain = json == b"true",
                b"isMeta" => meta = json == b"true",
                b"isCompactSummary" => summary = json == b"true",
                b"message" => message = Some(*value),
                _ => {}
            }
        }
        let message = message.filter(|_| matches!(kind, b"\"user\"" | b"\"assistant\""));
        if let Some(at) = message {
            self::message(line, at, &mut row, scratch);
        }
        row.kind = match kind {
            b"\"user\"" if summary => Kind::Summary,
            b"\"user\"" => user(line, &row, meta, scratch),
            b"\"assistant\"" => Kind::Assistant,
            b"\"attachment\"" => Kind::Attachment,
            b"\"system\"" if subtype == b"\"compact_boundary\"" => {
                row.parent = row.parent.or(logical);
                Kind::Boundary
            }
            b"\"system\"" => Kind::System,
            _ => Kind::Other,
        };
        row
    }

    fn blocks(&self, line: &[u8], row: &Row, scratch: &mut Scratch, found: &mut Vec<Block>) {
        found.clear();
        let Some(content) = row.content else { return };
        let words = match row.kind {
            Kind::Assistant => BlockKind::AssistantText,
            _ => BlockKind::UserText,
        };
        let json = content.of(line);
        if json.first() == Some(&b'"') {
            found.push(Block { kind: words, span: content });
            return;
        }
        let mut spans = std::mem::take(&mut scratch.spans);
        if span::items(json, &mut spans).is_some() {
            for item in &spans {
                let kind = match block_type(item.of(json), &mut scratch.message) {
                    b"\"text\"" => words,
                    b"\"thinking\"" | b"\"redacted_thinking\"" => BlockKind::Thinking,
                    b"\"tool_use\"" | b"\"server_tool_use\"" => BlockKind::ToolUse,
                    b"\"tool_result\"" => BlockKind::ToolResult,
                    b"\"image\"" | b"\"document\"" => BlockKind::Image,
                    _ => BlockKind::Row,
                };
                found.push(Block { kind, span: item.shifted(content.start) });
            }
        }
        scratch.spans = spans;
    }
}

/// Puts what counts of a message into the row.
fn message<'a>(line: &'a [u8], at: Span, row: &mut Row<'a>, scratch: &mut Scratch) {
    let json = at.of(line);
    if span::fields(json, &mut scratch.message).is_none() {
        return;
    }
    let mut used = None;
    for Field { name, value } in &scratch.message {
        match name.of(json) {
            b"id" => row.message = span::plain(value.of(json)),
            b"content" => row.content = Some(value.shifted(at.start)),
            b"usage" => used = Some(value.of(json)),
            _ => {}
        }
    }
    row.used = used.and_then(crate::transcript::usage::total);
}

/// What a row in the user's role is.
fn user(line: &[u8], row: &Row, meta: bool, scratch: &mut Scratch) -> Kind {
    let Some(content) = row.content else { return Kind::Notice };
    let json = content.of(line);
    let words = if json.first() == Some(&b'"') {
        json
    } else {
        let mut spans = std::mem::take(&mut scratch.spans);
        let mut words = None;
        let mut result = false;
        if span::items(json, &mut spans).is_some() {
            for item in &spans {
                let item = item.of(json);
                match block_type(item, &mut scratch.message) {
                    b"\"tool_result\"" => result = true,
                    b"\"text\"" if words.is_none() => {
                        words = span::get(item, &scratch.message, "text");
                    }
                    _ => {}
                }
            }
        }
        let empty = spans.is_empty();
        scratch.spans = spans;
        if result {
            return Kind::ToolResult;
        }
        match words {
            Some(words) => words,
            // Pictures alone are a message, too.
            None if !empty => return if meta { Kind::Notice } else { Kind::Prompt },
            None => return Kind::Notice,
        }
    };
    let words = words.get(1..).unwrap_or_default();
    if meta || NOTICES.iter().any(|notice| words.starts_with(notice)) {
        Kind::Notice
    } else {
        Kind::Prompt
    }
}

/// A block's `type`, as JSON.
fn block_type<'a>(block: &'a [u8], fields: &mut Vec<Field>) -> &'a [u8] {
    match span::fields(block, fields) {
        Some(_) => span::get(block, fields, "type").unwrap_or_default(),
        None => b"",
    }
}
