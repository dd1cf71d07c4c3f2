//! Renders a round as Markdown.

use std::collections::HashMap;
use std::fmt::Write;

use crate::fidelity::words::{self, ToolResult};
use crate::table::{reference, roles};
use base::clock::Time;
use base::shown::format_minute;
use serde_json::Value;
use sessions::dialect::{Block, BlockKind, Dialect, Kind, Row, Scratch};
use sessions::digest::title;
use sessions::operation::{Fidelity, Level};
use sessions::round::{Round, Session};
use sessions::span;

/// The heading of what the agent thought, said and called.
const AGENT: &str = "## Assistant";
/// The heading of what the client said or returned.
const CLIENT: &str = "## Client";

/// Renders the round; `rows` are its rows from the store.
pub fn text(
    session: &Session,
    round: &Round,
    rows: &[&[u8]],
    dialect: &dyn Dialect,
    fidelity: Fidelity,
) -> String {
    let mut page = Page {
        out: head(session, round),
        part: "",
        nested: false,
        reference: reference(session, round.seq),
        dialect,
        fidelity,
        calls: HashMap::new(),
        hidden: 0,
    };
    let (mut scratch, mut blocks) = (Scratch::default(), Vec::new());
    let mut prompts = rows.iter().map(|line| dialect.row(line, &mut scratch));
    // In a main session's file, the rows of a subagent are not part of the conversation.
    let main = prompts.any(|row| row.kind == Kind::Prompt && !row.sidechain);
    for line in rows {
        let row = dialect.row(line, &mut scratch);
        dialect.blocks(line, &row, &mut scratch, &mut blocks);
        if main && row.sidechain {
            page.hidden += 1;
        } else {
            page.row(line, &row, &blocks);
        }
    }
    page.end()
}

/// The facts about the round.
fn head(session: &Session, round: &Round) -> String {
    let mut head = format!("# Round {}\n\n", reference(session, round.seq));
    let mut item = |name: &str, value: &str| {
        // Writing into memory cannot fail.
        let _ = writeln!(head, "- {name}: {value}");
    };
    let source = session.source.as_ref().map(|path| format!(", from {path}")).unwrap_or_default();
    item("session", &format!("{} ({}){source}", session.id, session.agent));
    if let Some(parent) = &session.parent {
        item("made from", parent);
    }
    item("time", &format!("{} to {}", format_minute(round.started), format_minute(round.ended)));
    item("roles", roles(round));
    if let Some(engagement) = &round.engagement {
        item("engagement", engagement);
    }
    let how = if round.measured { "measured" } else { "estimated" };
    item("size", &format!("{} tokens ({how}), {} rows", round.tokens, round.rows));
    head
}

/// The texts of an attachment: the name of its file, and what is in it.
fn attached(json: &[u8]) -> String {
    let mut texts = Vec::new();
    if let Ok(value) = serde_json::from_slice(json) {
        collect(&value, &mut texts);
    }
    texts.join("\n\n")
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if !texts.contains(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(fields) => {
            // The types are no text, and an image is none.
            let said = fields
                .iter()
                .filter(|(name, _)| !["type", "base64", "data"].contains(&name.as_str()));
            said.for_each(|(_, value)| collect(value, texts));
        }
        _ => {}
    }
}

struct Page<'d> {
    out: String,
    /// The heading that names the current speaker.
    part: &'static str,
    /// Whether a lower heading came after it.
    nested: bool,
    reference: String,
    dialect: &'d dyn Dialect,
    fidelity: Fidelity,
    /// Title and time of each call, by its id.
    calls: HashMap<String, (String, Option<Time>)>,
    /// Rows that are not part of the conversation.
    hidden: usize,
}

impl Page<'_> {
    fn row(&mut self, line: &[u8], row: &Row, blocks: &[Block]) {
        let heading = match row.kind {
            Kind::Prompt => "## User",
            Kind::Assistant => AGENT,
            Kind::Summary | Kind::Boundary => "## Summary of what was compacted",
            Kind::ToolResult | Kind::Notice => CLIENT,
            Kind::Attachment | Kind::System | Kind::Other | Kind::Broken => {
                if let Some(words) = self.dialect.queued(line) {
                    self.words("## User, while the agent was at work", &words);
                } else if let Some((kind, json)) = self.dialect.attached(line) {
                    self.words("## Attached", &format!("({kind})\n\n{}", attached(json)));
                } else {
                    self.hidden += 1;
                }
                return;
            }
        };
        if blocks.is_empty() {
            self.hidden += 1;
        }
        let mut fields = Vec::new();
        for block in blocks {
            let json = block.span.slice(line);
            span::fields(json, &mut fields);
            let field = |name| span::get(json, &fields, name).and_then(span::text);
            match block.kind {
                BlockKind::UserText | BlockKind::AssistantText => {
                    let text = span::text(json).or_else(|| field("text")).unwrap_or_default();
                    // Shows a command as it was typed.
                    let said = self.dialect.said(&text).filter(|_| row.kind == Kind::Prompt);
                    self.words(heading, said.as_deref().unwrap_or(&text));
                }
                BlockKind::Thinking => self.thinking(field("thinking").as_deref()),
                BlockKind::ToolUse => self.call(json, row, field("id").as_deref()),
                BlockKind::ToolResult => self.result(line, json, row),
                BlockKind::Media => {
                    self.under(heading);
                    let what = field("type").unwrap_or_default();
                    self.line(&format!("[{what}: {} bytes as written]", json.len()));
                }
                BlockKind::Row => {
                    self.under(heading);
                    self.fenced("### Part of the message", "json", &lossy(json));
                }
            }
        }
    }

    fn thinking(&mut self, text: Option<&str>) {
        if self.fidelity.thinking != Level::Omit {
            self.under(AGENT);
        }
        match (self.fidelity.thinking, text) {
            (Level::Omit, _) => {}
            (Level::Full, Some(text)) => self.fenced("### Thinking", "text", text),
            (Level::Full, None) => {
                self.line("[thinking · redacted by the service: nobody can read it]");
            }
            (Level::Summary, text) => self.line(&words::thinking(text, &self.reference)),
        }
    }

    fn call(&mut self, json: &[u8], row: &Row, id: Option<&str>) {
        let call = self.dialect.call(json);
        let title = call.as_ref().map(title).unwrap_or_default();
        if self.fidelity.tool_use != Level::Omit {
            self.under(AGENT);
        }
        match self.fidelity.tool_use {
            Level::Omit => {}
            Level::Summary => self.line(&words::tool_use(&title, &self.reference)),
            Level::Full => {
                let input = call.as_ref().map(|call| laid_out(call.input)).unwrap_or_default();
                self.fenced(&format!("### Tool call: {}", heading(&title)), "json", &input);
            }
        }
        if let Some(id) = id {
            let at = row.at.and_then(|at| at.parse().ok());
            self.calls.insert(id.to_owned(), (title, at));
        }
    }

    fn result(&mut self, line: &[u8], json: &[u8], row: &Row) {
        if self.fidelity.tool_result == Level::Omit {
            return;
        }
        let (id, result) = ToolResult::from_block(line, json, row);
        let call = id.and_then(|id| self.calls.get(&id).cloned());
        let (title, called) = call.unwrap_or_default();
        // Right after its call, it needs no heading.
        if self.part != AGENT {
            self.under(CLIENT);
        }
        if self.fidelity.tool_result == Level::Summary {
            self.line(&result.summary(called, &self.reference));
            return;
        }
        let failed = if result.failed() { " (error)" } else { "" };
        self.fenced(&format!("### Tool result{failed}: {}", heading(&title)), "text", &result.text);
        if result.has_others() {
            self.line(&format!("[{} beside the text]", result.beside()));
        }
    }

    /// Writes somebody's words as they are.
    fn words(&mut self, heading: &'static str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if self.nested {
            // Repeats the heading: the words are not part of what the lower one names.
            self.part = "";
        }
        self.under(heading);
        self.line(&closed(text.trim_matches('\n')));
    }

    /// Writes a text in a code fence.
    fn fenced(&mut self, heading: &str, language: &str, text: &str) {
        let fence = fence(text);
        self.line(heading);
        self.line(&format!(
            "{fence}{language}\n{}\n{fence}",
            text.strip_suffix('\n').unwrap_or(text)
        ));
        self.nested = true;
    }

    /// Writes the heading of the speaker, if the speaker changes.
    fn under(&mut self, part: &'static str) {
        if self.part != part {
            self.line(part);
            self.part = part;
            self.nested = false;
        }
    }

    fn line(&mut self, text: &str) {
        self.out.push('\n');
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn end(mut self) -> String {
        if self.hidden > 0 {
            let rows = if self.hidden == 1 { "1 row" } else { &format!("{} rows", self.hidden) };
            self.line(&format!("({rows} of the client's own not shown)"));
        }
        self.out
    }
}

/// The title in a heading.
fn heading(title: &str) -> &str {
    if title.is_empty() { "(unknown)" } else { title }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An object with one field per line, each as it was written.
fn laid_out(json: &[u8]) -> String {
    let mut fields = Vec::new();
    if span::fields(json, &mut fields).is_none() || fields.is_empty() {
        return lossy(json);
    }
    let lines = fields.iter().map(|field| {
        format!("  \"{}\": {}", lossy(field.name.slice(json)), lossy(field.value.slice(json)))
    });
    format!("{{\n{}\n}}", lines.collect::<Vec<_>>().join(",\n"))
}

/// A fence that no line of the text closes.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// The text, with an open fence closed, so that what follows is not part of it.
fn closed(text: &str) -> String {
    let mut open: Option<(char, usize)> = None;
    for line in text.lines() {
        let inner = line.trim_start_matches(' ');
        if line.len() - inner.len() > 3 {
            continue;
        }
        let Some(mark) = inner.chars().next().filter(|c| matches!(c, '`' | '~')) else { continue };
        let length = inner.len() - inner.trim_start_matches(mark).len();
        let rest = &inner[length..];
        match open {
            None if length > 2 && !(mark == '`' && rest.contains('`')) => {
                open = Some((mark, length));
            }
            Some((c, n)) if c == mark && length >= n && rest.trim().is_empty() => open = None,
            _ => {}
        }
    }
    match open {
        Some((mark, length)) => format!("{text}\n{}", mark.to_string().repeat(length)),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
