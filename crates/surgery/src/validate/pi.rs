//! Checks entries of pi and `OpenClaw`, version 3.

use super::ledger::Ledger;
use super::pairs::Pairs;
use super::rules;
use sessions::dialect::{Dialect, Kind, Pi, Row, Scratch};
use sessions::span::{self, Field};

pub(super) fn row(
    line: &[u8],
    first: bool,
    ledger: &mut Ledger,
    pairs: &mut Pairs,
    scratch: &mut Scratch,
) {
    let row = Pi.row(line, scratch);
    let fields = std::mem::take(&mut scratch.fields);
    let get = |name| span::get(line, &fields, name);
    let kind = get("type").and_then(span::plain).unwrap_or_default();
    if kind == "session" {
        header(first, get("version"), get("id").and_then(span::plain), ledger);
        scratch.fields = fields;
        return;
    }
    let parent = get("parentId").and_then(span::plain);
    for Field { name, value } in &fields {
        let json = value.slice(line);
        let (rule, name) = match name.slice(line) {
            b"firstKeptEntryId" => (&rules::BOUNDARY, "firstKeptEntryId"),
            b"targetId" => (&rules::LEAF, "targetId"),
            b"fromId" if json != b"\"root\"" => (&rules::REFERENCE, "fromId"),
            _ => continue,
        };
        if let Some(id) = span::plain(json) {
            ledger.refers(id, rule, name);
        }
    }
    scratch.fields = fields;
    ledger.chained(row.id, parent);
    ledger.written(row.at);
    if kind == "message" {
        check_message(line, &row, ledger, pairs, scratch);
    }
}

fn header(first: bool, version: Option<&[u8]>, id: Option<&str>, ledger: &mut Ledger) {
    if !first {
        ledger.add(&rules::HEADER, "it is a second header");
    } else if version != Some(b"3") {
        ledger.add(&rules::HEADER, "its version is not 3");
    } else if id.is_none() {
        ledger.add(&rules::HEADER, "it has no id");
    }
    if first {
        ledger.names(id);
    }
}

fn check_message(
    line: &[u8],
    row: &Row,
    ledger: &mut Ledger,
    pairs: &mut Pairs,
    scratch: &mut Scratch,
) {
    let Some(message) = span::find(line, "message").filter(|m| m.first() == Some(&b'{')) else {
        ledger.add(&rules::MESSAGE, "it has no message");
        return;
    };
    match span::find(message, "role").and_then(span::plain) {
        Some("user") => pairs.user(ledger),
        Some("assistant") => pairs.agent(None, ledger),
        Some("toolResult") => match span::find(message, "toolCallId").and_then(span::plain) {
            Some(id) => pairs.answered(id, ledger),
            None => ledger.add(&rules::MESSAGE, "a tool result does not say whose it is"),
        },
        Some("bashExecution" | "custom" | "branchSummary" | "compactionSummary") => return,
        _ => {
            ledger.add(&rules::ROLE, "nobody has the role of its message");
            return;
        }
    }
    let Some(content) = row.content.map(|at| at.slice(line)) else {
        ledger.add(&rules::MESSAGE, "its message has no content");
        return;
    };
    if content.first() == Some(&b'"') {
        if row.kind != Kind::Prompt {
            ledger.add(&rules::MESSAGE, "the content of its message is a text, not a list");
        }
        return;
    }
    let mut spans = std::mem::take(&mut scratch.spans);
    if span::items(content, &mut spans).is_none() {
        ledger.add(&rules::MESSAGE, "the content of its message is neither a text nor a list");
    } else if spans.is_empty() {
        ledger.add(&rules::EMPTY, "its message is empty");
    }
    for at in &spans {
        let json = at.slice(content);
        match span::find(json, "type").and_then(span::plain) {
            Some("thinking") if row.kind == Kind::Assistant => {
                ledger.thought(json);
                pairs.thought(ledger);
            }
            Some("toolCall") if row.kind == Kind::Assistant => {
                match span::find(json, "id").and_then(span::plain) {
                    Some(id) => pairs.called(id, ledger),
                    None => ledger.add(&rules::MESSAGE, "a tool call has no id"),
                }
            }
            Some(kind @ ("thinking" | "toolCall")) => {
                ledger.add(&rules::ROLE, &format!("{kind} stands in the other's message"));
            }
            Some(_) => pairs.said(),
            None => ledger.add(&rules::MESSAGE, "a block of its message has no type"),
        }
    }
    scratch.spans = spans;
}
