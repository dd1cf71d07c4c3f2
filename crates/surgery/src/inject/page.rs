//! A round as Markdown.

use std::collections::HashMap;
use std::fmt::Write;

use crate::fidelity::words::{self, Result};
use crate::fidelity::{Fidelity, Level};
use crate::table::{reference, roles};
use base::clock::Time;
use base::shown::minute;
use sessions::dialect::{Block, BlockKind, Dialect, Kind, Row, Scratch};
use sessions::digest::title;
use sessions::round::{Round, Session};
use sessions::span;

/// What the agent thought, said and called.
const AGENT: &str = "## Assistant";
/// What the client said or gave back.
const CLIENT: &str = "## Client";

/// The round as Markdown. `rows` are its rows as they are in the store.
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
    // In a file of the main loop, a subagent's rows are no part of the conversation.
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

/// What is known of the round.
fn head(session: &Session, round: &Round) -> String {
    let mut head = format!("# Round {}\n\n", reference(session, round.seq));
    let mut item = |name: &str, value: &str| {
        // Writing into memory can't fail.
        let _ = writeln!(head, "- {name}: {value}");
    };
    let source = session.source.as_ref().map(|path| format!(", from {path}")).unwrap_or_default();
    item("session", &format!("{} ({}){source}", session.id, session.agent));
    if let Some(parent) = &session.parent {
        item("made from", parent);
    }
    item("time", &format!("{} to {}", minute(round.started), minute(round.ended)));
    item("roles", roles(round));
    if let Some(engagement) = &round.engagement {
        item("engagement", engagement);
    }
    let how = if round.measured { "measured" } else { "estimated" };
    item("size", &format!("{} tokens ({how}), {} rows", round.tokens, round.rows));
    head
}

struct Page<'d> {
    out: String,
    /// The heading that says whose what is written is.
    part: &'static str,
    /// Whether a heading of a lower rank stands below it.
    nested: bool,
    reference: String,
    dialect: &'d dyn Dialect,
    fidelity: Fidelity,
    /// Title and time of each call, by its id.
    calls: HashMap<String, (String, Option<Time>)>,
    /// Rows that are no part of the conversation.
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
                match self.dialect.queued(line) {
                    Some(words) => self.words("## User, while the agent was at work", &words),
                    None => self.hidden += 1,
                }
                return;
            }
        };
        if blocks.is_empty() {
            self.hidden += 1;
        }
        let mut fields = Vec::new();
        for block in blocks {
            let json = block.span.of(line);
            span::fields(json, &mut fields);
            let field = |name| span::get(json, &fields, name).and_then(span::text);
            match block.kind {
                BlockKind::UserText | BlockKind::AssistantText => {
                    let text = span::text(json).or_else(|| field("text")).unwrap_or_default();
                    // A command reads as it was typed.
                    let said = self.dialect.said(&text).filter(|_| row.kind == Kind::Prompt);
                    self.words(heading, said.as_deref().unwrap_or(&text));
                }
                BlockKind::Thinking => self.thinking(field("thinking").as_deref()),
                BlockKind::ToolUse => self.call(json, row, field("id").as_deref()),
                BlockKind::ToolResult => self.result(line, json, row),
                BlockKind::Image => {
                    self.under(heading);
                    self.line(&format!("[picture: {} bytes as written]", json.len()));
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
        let (id, result) = Result::of_block(line, json, row);
        let call = id.and_then(|id| self.calls.get(&id).cloned());
        let (title, called) = call.unwrap_or_default();
        // Right behind its call it needs no part of its own.
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

    /// Somebody's words, as they are.
    fn words(&mut self, heading: &'static str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if self.nested {
            // What follows a heading of a lower rank would be told as part of it.
            self.part = "";
        }
        self.under(heading);
        self.line(&closed(text.trim_matches('\n')));
    }

    /// Text that is no Markdown.
    fn fenced(&mut self, heading: &str, language: &str, text: &str) {
        let fence = fence(text);
        self.line(heading);
        self.line(&format!(
            "{fence}{language}\n{}\n{fence}",
            text.strip_suffix('\n').unwrap_or(text)
        ));
        self.nested = true;
    }

    /// Says whose what follows is, where that is another's than what stands before it.
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

/// A title as a heading may hold it.
fn heading(title: &str) -> &str {
    if title.is_empty() { "(unknown)" } else { title }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An object with a field a line, each as it was written.
fn laid_out(json: &[u8]) -> String {
    let mut fields = Vec::new();
    if span::fields(json, &mut fields).is_none() || fields.is_empty() {
        return lossy(json);
    }
    let lines = fields.iter().map(|field| {
        format!("  \"{}\": {}", lossy(field.name.of(json)), lossy(field.value.of(json)))
    });
    format!("{{\n{}\n}}", lines.collect::<Vec<_>>().join(",\n"))
}

/// A fence that nothing in the text closes.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// The text, with the fence closed that it leaves open: what follows is no part of it.
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
