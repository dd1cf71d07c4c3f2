//! Previews what would be extracted: the start of each value, and a sample to count tokens.

use std::io;

use super::source::Source;
use extract::entry::Trigger;
use extract::plan::Plan;
use extract::text;
use sessions::span;

/// Characters shown of a value.
const SHOWN: usize = 48;

/// Bytes of the sample, about thirty thousand tokens.
const SAMPLE: usize = 128 * 1024;

/// Most bytes of one value in the sample, so that it covers many values.
const OF_ONE: usize = 2 * 1024;

#[derive(Debug, Default)]
pub struct Preview {
    /// The start of each value, in the order of the plan's items.
    pub begins: Vec<String>,
    /// Text to count tokens in, as the API gets it.
    pub sample: String,
    /// Its characters, as values count them.
    pub characters: u64,
}

impl Preview {
    /// Reads the start of at least `shown` values, and of as many as the sample needs.
    pub fn read(source: &Source, plan: &Plan, shown: usize) -> io::Result<Self> {
        let mut preview = Self::default();
        let mut items = plan.items.iter().peekable();
        let mut enough = plan.items.is_empty();
        let read = source.file.rows(&mut |row, line| {
            while let Some(item) = items.next_if(|item| item.row == row) {
                let characters = if preview.sample.len() < SAMPLE { OF_ONE } else { 4 * SHOWN };
                let text = text::beginning(item.span.slice(line), characters).0;
                preview.add(&text, item.trigger == Trigger::ToolCall);
            }
            let counts = preview.sample.len() >= SAMPLE && preview.begins.len() >= shown;
            enough |= counts || items.peek().is_none();
            // Stop: the rest of the file adds nothing.
            if enough { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
        });
        match read {
            Err(_) if enough => Ok(preview),
            read => read.map(|_| preview),
        }
    }

    /// A call's arguments are sent as JSON, with its escapes.
    fn add(&mut self, text: &str, is_json: bool) {
        self.begins.push(begin(text));
        let room = SAMPLE.saturating_sub(self.sample.len()).min(OF_ONE);
        let mut end = room.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = &text[..end];
        self.characters += text.chars().count() as u64;
        let json = if is_json { serde_json::to_string(text).ok() } else { None };
        let inner = json.as_deref().and_then(|json| json.get(1..json.len() - 1));
        self.sample.push_str(inner.unwrap_or(text));
    }
}

/// The start of a text, on one line.
pub fn begin(text: &str) -> String {
    let plain = |c: char| if c.is_whitespace() || c.is_control() { ' ' } else { c };
    let begin: String = text.trim_start().chars().take(SHOWN).map(plain).collect();
    let more = text.trim_start().chars().nth(SHOWN).is_some();
    if more { format!("{}…", begin.trim_end()) } else { begin }
}

/// A value's text: of a string or a block, else its raw JSON.
pub fn text(json: &[u8]) -> String {
    let of_block = || {
        let field = ["thinking", "text"].into_iter().find_map(|name| span::find(json, name))?;
        span::text(field)
    };
    match span::text(json).or_else(of_block) {
        Some(text) => text.into_owned(),
        // JSON without text, or with half a surrogate pair.
        None => String::from_utf8_lossy(json).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_told_by_its_text() {
        assert_eq!(text(br#""a\nb \u00e9""#), "a\nb é");
        assert_eq!(text(br#"{"type":"thinking","thinking":"so","thinkingSignature":"x"}"#), "so");
        assert_eq!(text(br#"{"command":"ls"}"#), r#"{"command":"ls"}"#);
        assert_eq!(text(br#""half \ud83d""#), r#""half \ud83d""#);
    }

    #[test]
    fn what_is_shown_is_one_line_and_cut_at_characters() {
        let mut preview = Preview::default();
        preview.add(" \n one\ttwo", false);
        preview.add(&"日本語".repeat(40_000), false);
        assert_eq!(preview.begins[0], "one two");
        assert_eq!(preview.begins[1].chars().count(), SHOWN + 1);
        assert!(preview.sample.len() <= OF_ONE + 10);
    }

    #[test]
    fn arguments_are_counted_as_json() {
        let mut preview = Preview::default();
        preview.add("a\n\"b\"", true);
        assert_eq!((preview.sample.as_str(), preview.characters), (r#"a\n\"b\""#, 5));
    }
}
