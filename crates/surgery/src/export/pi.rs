//! Writes entries of pi and `OpenClaw` (version 3): a header, then a chain by `parentId`.

use super::Birth;
use super::form::{self, Call, Form, Link};
use super::splice::{self, Object};
use crate::ids::{Fresh, Source};
use crate::plan::Plan;
use sessions::dialect::{self, Block, BlockKind, Dialect, Kind, Row};
use sessions::round::Session;
use sessions::span::{self, Field, Span};

/// The row format of pi.
#[derive(Debug)]
pub(super) struct Pi;

/// What pi sends around the summary of a compaction.
const SUMMARY: (&str, &str) = (
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n",
    "\n</summary>",
);

impl Form for Pi {
    fn dialect(&self) -> &'static dyn Dialect {
        &dialect::Pi
    }

    fn header(&self, plan: &Plan, birth: &Birth, out: &mut Vec<u8>) -> bool {
        let mut object = Object::new(out);
        object.plain(b"type", "session");
        object.json(b"version", b"3");
        object.text(b"id", &birth.id);
        object.plain(b"timestamp", &form::stamp(birth.now));
        object.text(b"cwd", &birth.cwd);
        if let Some(parent) = plan.sessions.first().and_then(|s| s.source.as_deref()) {
            object.text(b"parentSession", parent);
        }
        object.json(b"brainGuard", form::lineage(plan, birth).as_bytes());
        object.end_line();
        true
    }

    fn kept(&self, row: &Row, _: &Session) -> bool {
        row.id.is_some() && row.kind != Kind::Broken
    }

    fn fresh(&self, source: &Source, old: &str) -> Fresh {
        source.hex(old, 16)
    }

    fn calls(&self, line: &[u8], row: &Row, blocks: &[Block], found: &mut dyn FnMut(Call)) {
        if row.kind == Kind::ToolResult {
            let id = span::find(line, "message").and_then(|m| span::find(m, "toolCallId"));
            if let Some(id) = id.and_then(span::plain) {
                found(Call { id, item: 0, result: true });
            }
            return;
        }
        for (item, block) in blocks.iter().enumerate() {
            if block.kind == BlockKind::ToolUse
                && let Some(id) = span::find(block.span.slice(line), "id").and_then(span::plain)
            {
                found(Call { id, item, result: false });
            }
        }
    }

    fn row(
        &self,
        line: &[u8],
        fields: &[Field],
        row: &Row,
        link: &Link,
        out: &mut Vec<u8>,
    ) -> Option<Span> {
        if row.kind == Kind::Boundary {
            let summary = span::find(line, "summary").and_then(span::text).unwrap_or_default();
            self.message(&[SUMMARY.0, &summary, SUMMARY.1].concat(), link, out);
            return None;
        }
        let mut usage = None;
        let mut object = Object::new(out);
        head(&mut object, span::find(line, "type").and_then(span::plain).unwrap_or("custom"), link);
        for Field { name, value } in fields {
            let (name, json) = (name.slice(line), value.slice(line));
            match name {
                b"type" | b"id" | b"parentId" | b"timestamp" | b"forkedFrom" => {}
                // References to other entries; the entry before replaces a missing one.
                b"targetId" | b"fromId" | b"firstKeptEntryId" => {
                    let fresh = span::plain(json).and_then(|old| (link.known)(old));
                    let fresh = fresh.as_ref().map(Fresh::as_str);
                    object.plain(name, fresh.or(link.parent).unwrap_or("root"));
                }
                b"message" if row.kind == Kind::Assistant => {
                    let at = object.json(name, json);
                    usage = span::locate(json, "usage").map(|used| used.shifted(at.start));
                }
                _ => {
                    object.json(name, json);
                }
            }
        }
        provenance(&mut object, link, span::get(line, fields, "forkedFrom"));
        object.end_line();
        usage
    }

    fn message(&self, text: &str, link: &Link, out: &mut Vec<u8>) {
        let mut object = Object::new(out);
        head(&mut object, "message", link);
        let mut message = Object::new(object.out(b"message"));
        message.plain(b"role", "user");
        let content = message.out(b"content");
        content.push(b'[');
        let mut block = Object::new(content);
        block.plain(b"type", "text");
        block.text(b"text", text);
        block.end();
        content.push(b']');
        let at =
            chrono::DateTime::parse_from_rfc3339(link.time).map_or(0, |t| t.timestamp_millis());
        message.json(b"timestamp", at.to_string().as_bytes());
        message.end();
        if link.old.is_empty() {
            let rounds = link.stands_for.map(str::as_bytes);
            object.json(b"brainGuard", &splice::told(rounds, None));
        } else {
            provenance(&mut object, link, None);
        }
        object.end_line();
    }

    fn title(&self, title: &str, link: &Link, out: &mut Vec<u8>) {
        let mut object = Object::new(out);
        head(&mut object, "session_info", link);
        object.text(b"name", title);
        object.end_line();
    }

    fn once<'a>(&self, _: &'a [u8], _: &Row) -> Option<&'a str> {
        None
    }

    fn usage(&self, tokens: u64) -> String {
        format!(
            r#"{{"input":{tokens},"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":{tokens},"cost":{{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}}}"#
        )
    }

    fn without(&self, line: &[u8], row: &Row, gone: &[usize]) -> Option<Vec<u8>> {
        let content = row.content.filter(|_| row.kind == Kind::Assistant)?;
        let mut items = Vec::new();
        span::items(content.slice(line), &mut items)?;
        let left = splice::without(content.slice(line), &items, gone)?;
        Some(splice::replaced(line, content, &left))
    }

    fn taken(&self, _: &[u8]) -> bool {
        true
    }

    fn companions(&self, _: &[u8], _: &mut dyn FnMut(String)) {}
}

fn head(object: &mut Object, kind: &str, link: &Link) {
    object.plain(b"type", kind);
    object.plain(b"id", link.id);
    match link.parent {
        Some(id) => object.plain(b"parentId", id),
        None => {
            object.json(b"parentId", b"null");
        }
    }
    object.plain(b"timestamp", link.time);
}

/// Unknown fields stay in the entry, and the model does not get them.
fn provenance(object: &mut Object, link: &Link, before: Option<&[u8]>) {
    splice::from(object, "entryId", link, before);
}
