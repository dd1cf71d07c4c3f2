//! Writes rows of Claude Code (client 2.1.329). `forkedFrom` is the client's own field for a row's
//! origin. Rows without a uuid are bookkeeping, which the client makes again.

use memchr::memmem;

use super::form::{Call, Link};
use super::splice::{self, Object};
use crate::ids::{Fresh, Source};
use sessions::dialect::{Block, BlockKind, ENVIRONMENT, Kind, Row};
use sessions::round::Session;
use sessions::span::{self, Field, Span};

/// Whether a session is a subagent's: all its rows are marked so.
fn of_agent(source: &Session) -> bool {
    source.parent.is_some() && source.id.starts_with("agent-")
}

/// Whether such a row goes into the new session.
pub(super) fn kept(row: &Row, source: &Session) -> bool {
    row.id.is_some()
        && !matches!(row.kind, Kind::Boundary | Kind::Broken)
        && (!row.sidechain || of_agent(source))
}

/// Derives a fresh id for a row.
pub(super) fn fresh(source: &Source, old: &str) -> Fresh {
    source.uuid(old)
}

/// The tool calls and results of a row, in order.
pub(super) fn calls(line: &[u8], row: &Row, blocks: &[Block], found: &mut dyn FnMut(Call)) {
    let (kind, name, result) = match row.kind {
        Kind::Assistant => (&b"\"tool_use\""[..], "id", false),
        Kind::ToolResult => (&b"\"tool_result\""[..], "tool_use_id", true),
        _ => return,
    };
    for (item, block) in blocks.iter().enumerate() {
        let json = block.span.slice(line);
        if matches!(block.kind, BlockKind::ToolUse | BlockKind::ToolResult)
            && span::find(json, "type") == Some(kind)
            && let Some(id) = span::find(json, name).and_then(span::plain)
        {
            found(Call { id, item, result });
        }
    }
}

/// Writes a row with these fields. Returns where its usage is in `out`.
pub(super) fn row(
    line: &[u8],
    fields: &[Field],
    row: &Row,
    link: &Link,
    out: &mut Vec<u8>,
) -> Option<Span> {
    let (mut chained, mut named, mut timed, mut usage) = (false, false, false, None);
    let agent = of_agent(link.source);
    let mut object = Object::new(out);
    for Field { name, value } in fields {
        let (name, json) = (name.slice(line), value.slice(line));
        match name {
            b"uuid" => object.plain(name, link.id),
            b"parentUuid" => {
                chained = true;
                parent(&mut object, link.parent);
            }
            b"sessionId" => {
                named = true;
                object.plain(name, &link.birth.id);
            }
            b"session_id" => object.plain(name, &link.birth.id),
            b"timestamp" => {
                timed = true;
                object.plain(name, link.time);
            }
            b"sourceToolAssistantUUID" => {
                if let Some(fresh) = span::plain(json).and_then(|old| (link.known)(old)) {
                    object.plain(name, fresh.as_str());
                }
            }
            b"isSidechain" => {
                object.json(name, b"false");
            }
            b"agentId" if agent => {}
            // References to missing rows, and the marks of a summary.
            b"logicalParentUuid" | b"leafUuid" | b"forkedFrom" | b"brainGuard" => {}
            // The client fails on markup there, and shows a result where there is one.
            b"toolUseResult" if row.kind != Kind::ToolResult || json.starts_with(b"\"<") => {}
            b"isCompactSummary" | b"isVisibleInTranscriptOnly" if row.kind == Kind::Summary => {}
            b"message" if row.kind == Kind::Assistant => {
                usage = agent_message(json, row.used.is_some(), link, object.out(name));
            }
            _ => {
                object.json(name, json);
            }
        }
    }
    if !chained {
        parent(&mut object, link.parent);
    }
    if !named {
        object.plain(b"sessionId", &link.birth.id);
    }
    if !timed {
        object.plain(b"timestamp", link.time);
    }
    let before = span::get(line, fields, "forkedFrom");
    splice::from(&mut object, link, before);
    if row.told {
        let told = span::get(line, fields, "brainGuard");
        let rounds = told.and_then(|told| span::find(told, "stands_for"));
        object.json(b"brainGuard", &splice::told(rounds, link.lineage));
    } else if let Some(lineage) = link.lineage {
        object.json(b"brainGuard", lineage.as_bytes());
    }
    object.end_line();
    usage
}

/// Writes a user's message.
pub(super) fn message(text: &str, link: &Link, out: &mut Vec<u8>) {
    let mut object = Object::new(out);
    parent(&mut object, link.parent);
    object.json(b"isSidechain", b"false");
    object.plain(b"type", "user");
    let mut message = Object::new(object.out(b"message"));
    message.plain(b"role", "user");
    message.text(b"content", text);
    message.end();
    object.plain(b"uuid", link.id);
    object.plain(b"timestamp", link.time);
    object.plain(b"userType", "external");
    // The client's list hides sessions that never had a terminal.
    object.plain(b"entrypoint", "cli");
    object.text(b"cwd", &link.birth.cwd);
    object.text(b"sessionId", &link.birth.id);
    let rounds = link.stands_for.map(str::as_bytes);
    object.json(b"brainGuard", &splice::told(rounds, link.lineage));
    object.end_line();
}

/// Writes the session's title.
pub(super) fn title(title: &str, link: &Link, out: &mut Vec<u8>) {
    let mut object = Object::new(out);
    object.plain(b"type", "custom-title");
    object.text(b"customTitle", title);
    object.text(b"sessionId", &link.birth.id);
    object.end_line();
}

/// The kind of a row that a session needs only once: from two sources, it would be in the
/// context twice.
pub(super) fn once<'a>(line: &'a [u8], row: &Row) -> Option<&'a str> {
    let attachment = Some(()).filter(|()| row.kind == Kind::Attachment);
    let kind = attachment.and_then(|()| span::find(span::find(line, "attachment")?, "type"));
    kind.and_then(span::plain).filter(|kind| ENVIRONMENT.contains(kind))
}

/// JSON for a usage of that many tokens.
pub(super) fn usage(tokens: u64) -> String {
    format!(
        r#"{{"input_tokens":{tokens},"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}"#
    )
}

/// The row without these items of its message; `None` if nothing remains.
pub(super) fn without(line: &[u8], row: &Row, gone: &[usize]) -> Option<Vec<u8>> {
    let content = row.content?;
    let mut items = Vec::new();
    span::items(content.slice(line), &mut items)?;
    let left = splice::without(content.slice(line), &items, gone)?;
    let line = splice::replaced(line, content, &left);
    if row.kind != Kind::ToolResult {
        return Some(line);
    }
    // What the client shows belongs to the removed result, or to all.
    let mut fields = Vec::new();
    span::fields(&line, &mut fields)?;
    let mut out = Vec::with_capacity(line.len());
    let mut object = Object::new(&mut out);
    for Field { name, value } in &fields {
        if name.slice(&line) != b"toolUseResult" {
            object.json(name.slice(&line), value.slice(&line));
        }
    }
    object.end_line();
    Some(out)
}

/// Whether the API accepts a block of the agent's message as it is.
pub(super) fn taken(block: &[u8]) -> bool {
    let text = |name| span::find(block, name).filter(|t| t.first() == Some(&b'"'));
    let filled = |name| text(name).is_some_and(|t| t.len() > 2);
    match span::find(block, "type") {
        Some(b"\"thinking\"") => text("thinking").is_some() && filled("signature"),
        Some(b"\"redacted_thinking\"") => filled("data"),
        Some(b"\"text\"") => filled("text"),
        Some(b"\"tool_use\"") => {
            filled("name") && span::find(block, "input").is_some_and(|i| i.starts_with(b"{"))
        }
        _ => true,
    }
}

/// Finds the files of the companion folder that the row refers to.
pub(super) fn companions(line: &[u8], found: &mut dyn FnMut(String)) {
    let part = |bytes: &[u8]| -> Option<String> {
        let end = bytes.iter().position(|b| !(b.is_ascii_alphanumeric() || b"._-".contains(b)));
        let name = std::str::from_utf8(bytes.get(..end?)?).ok()?;
        (!name.is_empty() && !name.starts_with('.')).then(|| name.to_owned())
    };
    for at in memmem::find_iter(line, b"/tool-results/") {
        if let Some(name) = line.get(at + 14..).and_then(part) {
            found(format!("tool-results/{name}"));
        }
    }
    for at in memmem::find_iter(line, b"\"agentId\":\"") {
        if let Some(name) = line.get(at + 11..).and_then(part) {
            found(format!("subagents/agent-{name}.jsonl"));
            found(format!("subagents/agent-{name}.meta.json"));
        }
    }
}

fn parent(object: &mut Object, parent: Option<&str>) {
    match parent {
        Some(id) => object.plain(b"parentUuid", id),
        None => {
            object.json(b"parentUuid", b"null");
        }
    }
}

/// Writes an assistant's message under its own or a fresh id. Returns where its usage is in `out`,
/// if that counts.
fn agent_message(json: &[u8], counts: bool, link: &Link, out: &mut Vec<u8>) -> Option<Span> {
    let start = out.len();
    match link.message.and_then(|fresh| Some((fresh, span::locate(json, "id")?))) {
        Some((fresh, id)) => {
            out.extend_from_slice(&json[..id.start]);
            splice::quote(fresh, out);
            out.extend_from_slice(&json[id.end..]);
        }
        None => out.extend_from_slice(json),
    }
    let usage = Some(()).filter(|()| counts).and_then(|()| span::locate(&out[start..], "usage"));
    usage.map(|at| at.shifted(start))
}
