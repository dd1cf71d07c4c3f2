//! Texts in place of what was removed: what it was, and how to read it.

use std::borrow::Cow;

use base::clock::Time;
use base::shown::group_thousands;
use sessions::dialect::{LEFT_OUT, Row};
use sessions::digest::preview;
use sessions::round::PREVIEW;
use sessions::span::{self, Cursor};

/// Replaces an omitted result whose call stays: half a pair cannot go.
pub const OMITTED: &str = "[tool_result omitted]";

/// Bytes of text per token, on average.
const BYTES_A_TOKEN: usize = 4;

/// Characters of a value in a call's input that stays as it is.
const LONG: usize = 120;

/// The note about thinking that is left out, from the bytes of each text. `None` without any.
pub fn left_out(texts: impl Iterator<Item = usize>, reference: &str) -> Option<String> {
    let (count, bytes) = texts.fold((0, 0), |(count, sum), bytes| (count + 1, sum + bytes));
    let (blocks, them) = match count {
        0 => return None,
        1 => ("block", "it"),
        _ => ("blocks", "them"),
    };
    let tokens = group_thousands(bytes.div_ceil(BYTES_A_TOKEN) as u64);
    Some(format!(
        "{LEFT_OUT}{count} thinking {blocks}, about {tokens} tokens. Read {them} with: brain-guard show {reference} thinking"
    ))
}

/// A call's input with each long text shortened to its beginning; `None` if none is long.
pub fn shortened(json: &[u8], reference: &str) -> Option<Vec<u8>> {
    let (mut out, mut copied, mut at) = (Vec::new(), 0, 0);
    while let Some(quote) = memchr::memchr(b'"', &json[at..]) {
        let text = Cursor::from(json, at + quote).value()?;
        at = text.end;
        let is_name = json[at..].trim_ascii_start().first() == Some(&b':');
        if let Some(short) =
            Some(text.slice(json)).filter(|_| !is_name).and_then(|text| beginning(text, reference))
        {
            out.extend_from_slice(&json[copied..text.start]);
            out.extend_from_slice(&short);
            copied = at;
        }
    }
    out.extend_from_slice(&json[copied..]);
    (copied > 0).then_some(out)
}

/// The beginning of a long text, as JSON, if that is shorter.
fn beginning(json: &[u8], reference: &str) -> Option<Vec<u8>> {
    let text = span::text(json).filter(|_| json.len() > LONG)?;
    let count = text.chars().count();
    let start: String = text.chars().take(PREVIEW).collect();
    let count = group_thousands(Some(count).filter(|count| *count > LONG)? as u64);
    let short = quoted(&format!("{start}… ({count} characters; brain-guard show {reference})"));
    (short.len() < json.len()).then_some(short)
}

/// Stands for thinking on a page; `None` is thinking that the service redacted.
pub fn thinking(text: Option<&str>, reference: &str) -> String {
    match text {
        Some(text) => {
            format!("[thinking · {} chars — inject({reference}, thinking)]", text.chars().count())
        }
        None => format!("[thinking · redacted — inject({reference}, thinking)]"),
    }
}

/// Stands for a call on a page.
pub fn tool_use(title: &str, reference: &str) -> String {
    format!("[tool_use: {title} — brain-guard show {reference} --tool-use full]")
}

/// A text as JSON.
pub fn quoted(text: &str) -> Vec<u8> {
    serde_json::Value::from(text).to_string().into_bytes()
}

/// A text as a block of a message.
pub fn text_block(text: &str) -> Vec<u8> {
    [br#"{"type":"text","text":"#, quoted(text).as_slice(), b"}"].concat()
}

/// The result of a tool.
pub struct ToolResult<'a> {
    /// Its texts.
    pub text: String,
    /// Its parts without text, as JSON: images, documents, references to tools.
    others: Vec<&'a [u8]>,
    failed: bool,
    at: Option<Time>,
    /// Milliseconds that it took, according to the tool.
    took: Option<i64>,
}

impl<'a> ToolResult<'a> {
    /// Parses a result from its JSON; `more` is what the client keeps beside it.
    fn of(content: &'a [u8], failed: bool, at: Option<&str>, more: Option<&[u8]>) -> Self {
        let (mut texts, mut others, mut items) = (Vec::new(), Vec::new(), Vec::new());
        let mut fields = Vec::new();
        if let Some(text) = span::text(content) {
            texts.push(text.into_owned());
        } else if span::items(content, &mut items).is_some() {
            for item in items {
                let item = item.slice(content);
                span::fields(item, &mut fields);
                match span::get(item, &fields, "text").and_then(span::text) {
                    Some(text) => texts.push(text.into_owned()),
                    None => others.push(item),
                }
            }
        }
        let took = more.filter(|more| span::fields(more, &mut fields).is_some()).and_then(|more| {
            let names = ["durationMs", "totalDurationMs"];
            let number = names.iter().find_map(|name| span::get(more, &fields, name))?;
            let number: f64 = std::str::from_utf8(number).ok()?.parse().ok()?;
            Some(number as i64)
        });
        let at = at.and_then(|at| at.parse().ok());
        Self { text: texts.join("\n"), others, failed, at, took }
    }

    /// The result in a block, and the id of its call. In Claude Code a block is an object; in pi it
    /// is the content of the whole entry.
    pub fn from_block(line: &'a [u8], json: &'a [u8], row: &Row) -> (Option<String>, Self) {
        let (mut fields, mut inner) = (Vec::new(), Vec::new());
        span::fields(line, &mut fields);
        if span::fields(json, &mut inner).is_some() {
            let id = span::get(json, &inner, "tool_use_id").and_then(span::text);
            let content = span::get(json, &inner, "content").unwrap_or_default();
            let failed = span::get(json, &inner, "is_error") == Some(b"true");
            let more = span::get(line, &fields, "toolUseResult");
            return (id.map(Cow::into_owned), Self::of(content, failed, row.at, more));
        }
        let message = span::get(line, &fields, "message").unwrap_or_default();
        span::fields(message, &mut inner);
        let id = span::get(message, &inner, "toolCallId").and_then(span::text);
        let failed = span::get(message, &inner, "isError") == Some(b"true");
        (id.map(Cow::into_owned), Self::of(json, failed, row.at, None))
    }

    /// Its size, its duration since the call at `called`, and how it begins.
    pub fn summary(&self, called: Option<Time>, reference: &str) -> String {
        let mut parts = Vec::new();
        if self.failed {
            parts.push("error".to_owned());
        }
        parts.push(format!("{} tokens", self.text.len().div_ceil(BYTES_A_TOKEN)));
        let since = || Some((self.at? - called?).num_milliseconds()).filter(|ms| *ms >= 0);
        parts.extend(self.took.or_else(since).map(|ms| format!("{ms} ms")));
        if !self.others.is_empty() {
            parts.push(self.beside());
        }
        let first = self.text.lines().find(|line| !line.trim().is_empty());
        parts.extend(first.map(|line| preview(line, PREVIEW)));
        format!(
            "[tool_result: {} — brain-guard show {reference} --tool-result full]",
            parts.join(", ")
        )
    }

    /// Describes its parts that are not text.
    pub fn beside(&self) -> String {
        match self.others.len() {
            1 => "1 image".to_owned(),
            many => format!("{many} images"),
        }
    }

    /// Whether it has parts that are not text.
    pub fn has_others(&self) -> bool {
        !self.others.is_empty()
    }

    /// Whether the tool failed.
    pub fn failed(&self) -> bool {
        self.failed
    }
}
