//! Checks rows of Claude Code.

use super::ledger::Ledger;
use super::pairs::Pairs;
use super::rules;
use sessions::dialect::{Kind, Row, Scratch};
use sessions::span::{self, Field};

/// The leaf of a session that was rewound to before its first prompt.
const NO_ROW: &str = "00000000-0000-0000-0000-000000000000";

/// Checks a row whose head was just parsed.
pub(super) fn row(
    line: &[u8],
    row: &Row,
    ledger: &mut Ledger,
    pairs: &mut Pairs,
    scratch: &mut Scratch,
) {
    let fields = std::mem::take(&mut scratch.fields);
    let (mut kind, mut parent, mut session) = (&b""[..], None, None);
    let (mut message, mut shown, mut leaf) = (None, None, None);
    for Field { name, value } in &fields {
        let json = value.slice(line);
        match name.slice(line) {
            b"type" => kind = json,
            b"parentUuid" => parent = span::plain(json),
            b"sessionId" => session = span::plain(json),
            b"message" => message = Some(json),
            b"toolUseResult" => shown = Some(json),
            b"leafUuid" => leaf = span::plain(json).filter(|id| *id != NO_ROW),
            b"forkedFrom" => fork(json, ledger),
            b"sourceToolAssistantUUID" => {
                if let Some(id) = span::plain(json) {
                    ledger.refers(id, &rules::REFERENCE, "sourceToolAssistantUUID");
                }
            }
            b"logicalParentUuid" => {
                if let Some(id) = span::plain(json) {
                    ledger.refers(id, &rules::BOUNDARY, "logicalParentUuid");
                }
            }
            b"compactMetadata" => compaction(json, ledger),
            _ => {}
        }
    }
    scratch.fields = fields;
    if let Some(id) = leaf {
        // Before 2.1.153 a summary named a row of another file.
        let rule = if kind == b"\"summary\"" { &rules::REFERENCE } else { &rules::LEAF };
        ledger.refers(id, rule, "leafUuid");
    }
    let chained =
        matches!(kind, b"\"user\"" | b"\"assistant\"" | b"\"system\"" | b"\"attachment\"");
    if !chained && row.id.is_none() {
        if session.is_some() {
            ledger.names(session);
        }
        return;
    }
    ledger.chained(row.id, parent);
    ledger.written(row.at);
    ledger.names(session);
    if matches!(kind, b"\"user\"" | b"\"assistant\"") {
        check_message(line, kind, row, message, ledger, pairs, scratch);
    }
    if let Some(json) = shown {
        self::shown(json, row.kind, ledger);
    }
}

/// Checks a message.
fn check_message(
    line: &[u8],
    kind: &[u8],
    row: &Row,
    message: Option<&[u8]>,
    ledger: &mut Ledger,
    pairs: &mut Pairs,
    scratch: &Scratch,
) {
    let Some(message) = message.filter(|m| m.first() == Some(&b'{')) else {
        ledger.add(&rules::MESSAGE, "it has no message");
        return;
    };
    if span::find(message, "role") != Some(kind) {
        let role = span::find(message, "role").map(String::from_utf8_lossy).unwrap_or_default();
        let kind = String::from_utf8_lossy(kind);
        ledger.add(
            &rules::ROLE,
            &format!("its message has the role {role}, the row is of type {kind}"),
        );
        return;
    }
    let agent = row.kind == Kind::Assistant;
    if agent {
        pairs.agent(row.message, ledger);
        if !row.sidechain {
            ledger.answered(line, row.model);
        }
    } else if matches!(row.kind, Kind::Prompt | Kind::Summary) {
        pairs.user(ledger);
        if row.kind == Kind::Summary {
            ledger.answered(line, None);
        }
    } else if row.kind == Kind::Notice {
        pairs.noticed();
    }
    let Some(content) = row.content.map(|at| at.slice(line)) else {
        ledger.add(&rules::MESSAGE, "its message has no content");
        return;
    };
    if content.first() == Some(&b'"') {
        pairs.said();
        if content.len() == 2 {
            ledger.add(&rules::EMPTY, "its message is empty");
        }
        return;
    }
    if content.first() != Some(&b'[') {
        ledger.add(&rules::MESSAGE, "the content of its message is neither a text nor a list");
    } else if scratch.blocks().is_empty() {
        ledger.add(&rules::EMPTY, "its message is empty");
    }
    for found in scratch.blocks() {
        block(found.span.slice(line), agent, ledger, pairs);
    }
}

fn block(json: &[u8], agent: bool, ledger: &mut Ledger, pairs: &mut Pairs) {
    let Some(kind) = span::find(json, "type").and_then(span::plain) else {
        ledger.add(&rules::MESSAGE, "a block of its message has no type");
        return;
    };
    let id = |name| span::find(json, name).and_then(span::plain);
    match (kind, agent) {
        ("thinking" | "redacted_thinking", true) => {
            thinking(json, kind, ledger);
            pairs.thought(ledger);
        }
        ("tool_use", true) => match id("id") {
            Some(id) => {
                pairs.called(id, ledger);
                if span::find(json, "name").is_none_or(|name| name.len() < 3 || name[0] != b'"') {
                    ledger.add(&rules::MESSAGE, &format!("the tool call {id} names no tool"));
                }
                if span::find(json, "input").is_none_or(|input| input.first() != Some(&b'{')) {
                    let what = format!("the input of the tool call {id} is not an object");
                    ledger.add(&rules::MESSAGE, &what);
                }
            }
            None => ledger.add(&rules::MESSAGE, "a tool call has no id"),
        },
        ("tool_result", false) => match id("tool_use_id") {
            Some(id) => pairs.answered(id, ledger),
            None => ledger.add(&rules::MESSAGE, "a tool result does not say whose it is"),
        },
        ("tool_use" | "thinking" | "redacted_thinking", false) | ("tool_result", true) => {
            ledger.add(&rules::ROLE, &format!("{kind} stands in the other's message"));
        }
        ("text", _) => {
            pairs.said();
            match span::find(json, "text") {
                Some(b"\"\"") if agent => {
                    ledger.add(&rules::EMPTY, "a text of its message is empty");
                }
                Some([b'"', ..]) => {}
                _ => ledger.add(&rules::MESSAGE, "a text of its message has no text"),
            }
        }
        _ => pairs.said(),
    }
}

/// Thinking needs its text and its signature, redacted thinking its data. The text may be empty,
/// because the client can ask for none.
fn thinking(json: &[u8], kind: &str, ledger: &mut Ledger) {
    let text = |name| span::find(json, name).is_some_and(|t| t.first() == Some(&b'"'));
    let filled = |name| text(name) && span::find(json, name).is_some_and(|t| t.len() > 2);
    if kind == "redacted_thinking" {
        if !filled("data") {
            ledger.add(&rules::THINKING, "redacted thinking has no data");
        }
    } else if !text("thinking") {
        ledger.add(&rules::THINKING, "thinking has no text");
    } else if !filled("signature") {
        ledger.add(&rules::THINKING, "thinking has no signature");
    }
    ledger.thought(json);
}

/// Checks the second copy of a result, which the client shows. It takes a text that begins with `<`
/// for markup, and fails.
fn shown(json: &[u8], kind: Kind, ledger: &mut Ledger) {
    match json {
        [b'{' | b'[', ..] | b"null" => {}
        [b'"', b'<', ..] => {
            ledger.add(&rules::RESULT_TYPE, "its toolUseResult is a text that begins with <");
        }
        [b'"', ..] => {}
        _ => ledger.add(&rules::RESULT_TYPE, "its toolUseResult is a number or a truth value"),
    }
    if ledger.strict() && kind != Kind::ToolResult {
        ledger.add(&rules::RESULT_TYPE, "it has a toolUseResult, and no result");
    }
}

fn fork(json: &[u8], ledger: &mut Ledger) {
    let told = |name| span::find(json, name).and_then(span::plain).is_some_and(|t| !t.is_empty());
    if !told("sessionId") || !told("messageUuid") {
        ledger.add(&rules::FORK, "its forkedFrom does not name a session and a message");
    }
}

fn compaction(json: &[u8], ledger: &mut Ledger) {
    let Some(kept) = span::find(json, "preservedMessages") else { return };
    if let Some(id) = span::find(kept, "anchorUuid").and_then(span::plain) {
        ledger.refers(id, &rules::BOUNDARY, "anchorUuid");
    }
    let mut items = Vec::new();
    for name in ["uuids", "allUuids"] {
        let Some(ids) = span::find(kept, name) else { continue };
        if span::items(ids, &mut items).is_some() {
            for id in items.iter().filter_map(|at| span::plain(at.slice(ids))) {
                ledger.refers(id, &rules::BOUNDARY, name);
            }
        }
    }
}
