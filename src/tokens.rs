//! Estimates the tokens of text, for the figures before and after surgery. The vocabulary takes 0.1
//! s to load, so the hook never uses it. It belongs to another model, so counts are calibrated with
//! the usage that the session's responses report.

use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tiktoken_rs::CoreBPE;

use sessions::dialect::BlockKind;

/// Tokens of an image: the API's figure for one of the usual size.
const IMAGE: u64 = 1_600;

/// Longer texts are counted in pieces, because the time for a text without blanks grows faster than
/// its length.
const PIECE: usize = 16 * 1024;

/// A vocabulary that is loaded on first use. Dropping it frees its memory.
#[derive(Default)]
pub struct Counter(OnceLock<Option<CoreBPE>>);

impl Counter {
    fn vocabulary(&self) -> Option<&CoreBPE> {
        // The crate contains the vocabulary, so this does not fail.
        self.0.get_or_init(|| tiktoken_rs::cl100k_base().ok()).as_ref()
    }

    /// Tokens of a text. `cl100k_base` takes half the time and memory of the larger vocabulary.
    pub fn count(&self, text: &str) -> u64 {
        let Some(vocabulary) = self.vocabulary() else {
            return text.len() as u64 / 4;
        };
        let mut rest = text;
        let mut all = 0;
        while !rest.is_empty() {
            let mut end = rest.len().min(PIECE);
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
            let (piece, behind) = rest.split_at(end);
            all += vocabulary.count_ordinary(piece) as u64;
            rest = behind;
        }
        all
    }

    /// Tokens that a block adds to the context, from its JSON. Fields that only the API reads, such
    /// as signatures, do not count.
    pub fn of_block(&self, kind: BlockKind, json: &[u8]) -> u64 {
        let Ok(text) = std::str::from_utf8(json) else { return json.len() as u64 / 4 };
        match kind {
            BlockKind::Media => IMAGE,
            BlockKind::Row => 0,
            BlockKind::UserText | BlockKind::AssistantText => self.word(text, "text"),
            BlockKind::Thinking => self.word(text, "thinking"),
            BlockKind::ToolUse => self.tool_use(text),
            BlockKind::ToolResult => self.tool_result(text),
        }
    }

    /// Tokens of a block that is a string or has its text in `field`.
    fn word(&self, json: &str, field: &str) -> u64 {
        match serde_json::from_str(json) {
            Ok(Value::String(text)) => self.count(&text),
            Ok(Value::Object(block)) => {
                block.get(field).and_then(Value::as_str).map_or(0, |text| self.count(text))
            }
            _ => 0,
        }
    }

    /// Tokens of a call's name and of its input, as the API gets it.
    fn tool_use(&self, json: &str) -> u64 {
        #[derive(Deserialize)]
        struct Call<'a> {
            #[serde(default)]
            name: String,
            #[serde(borrow, alias = "arguments", default)]
            input: Option<&'a RawValue>,
        }
        serde_json::from_str::<Call>(json).map_or(0, |call| {
            self.count(&call.name) + call.input.map_or(0, |input| self.count(input.get()))
        })
    }

    /// Tokens of a result's texts and images.
    fn tool_result(&self, json: &str) -> u64 {
        match serde_json::from_str(json) {
            // A result of pi is the message's content itself.
            Ok(Value::Object(block)) => block.get("content").map_or(0, |value| self.content(value)),
            Ok(value) => self.content(&value),
            Err(_) => 0,
        }
    }

    fn content(&self, value: &Value) -> u64 {
        match value {
            Value::String(text) => self.count(text),
            Value::Array(items) => items.iter().map(|item| self.content(item)).sum(),
            Value::Object(item) => match item.get("text").and_then(Value::as_str) {
                Some(text) => self.count(text),
                None => IMAGE,
            },
            _ => 0,
        }
    }
}

/// Factor from counted tokens to the session's own tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration(f64);

impl Default for Calibration {
    fn default() -> Self {
        Self(1.0)
    }
}

impl Calibration {
    /// From rounds that were both measured and counted. Too few tokens say nothing. Vocabularies
    /// differ by less than the bounds here; a factor beyond them comes from content outside the
    /// rows.
    pub fn of(measured: u64, counted: u64) -> Self {
        const ENOUGH: u64 = 500;
        if measured < ENOUGH || counted < ENOUGH {
            return Self::default();
        }
        Self((measured as f64 / counted as f64).clamp(0.5, 3.0))
    }

    /// Converts counted tokens to the session's own tokens.
    pub fn apply(self, counted: u64) -> u64 {
        (counted as f64 * self.0).round() as u64
    }

    /// The factor.
    pub fn factor(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_and_signatures_are_not() {
        let counter = Counter::default();
        let (count, of_block) =
            (|text: &str| counter.count(text), |kind, json: &[u8]| counter.of_block(kind, json));
        let hello = count("hello world");
        assert_eq!(hello, 2);
        assert_eq!(of_block(BlockKind::UserText, br#""hello world""#), hello);
        assert_eq!(
            of_block(BlockKind::AssistantText, br#"{"type":"text","text":"hello world"}"#),
            hello
        );
        let thinking = br#"{"type":"thinking","thinking":"hello world","signature":"RXJyb3I="}"#;
        assert_eq!(of_block(BlockKind::Thinking, thinking), hello);
        let call = br#"{"type":"tool_use","id":"toolu_01","name":"Bash","input":{"command":"ls"}}"#;
        assert_eq!(
            of_block(BlockKind::ToolUse, call),
            count("Bash") + count(r#"{"command":"ls"}"#)
        );
        let result = br#"{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"hello world"},{"type":"image"}]}"#;
        assert_eq!(of_block(BlockKind::ToolResult, result), hello + IMAGE);
        assert_eq!(
            of_block(BlockKind::ToolResult, br#"{"type":"tool_result","content":"hello world"}"#),
            hello
        );
        assert_eq!(
            of_block(BlockKind::ToolResult, br#"[{"type":"text","text":"hello world"}]"#),
            hello
        );
        for kind in [BlockKind::UserText, BlockKind::ToolUse, BlockKind::ToolResult] {
            assert_eq!(of_block(kind, b"{\"broken"), 0);
        }
    }

    #[test]
    fn a_long_text_is_counted_in_pieces_at_letters() {
        let counter = Counter::default();
        let count = |text: &str| counter.count(text);
        let text = "日本語のテキスト ".repeat(5_000);
        let (whole, short) = (count(&text), count(&"日本語のテキスト ".repeat(10)));
        assert!(whole > 400 * short && whole < 600 * short, "{whole} {short}");
        let no_blank = "a".repeat(200_000);
        assert!(count(&no_blank) > 1_000);
    }

    #[test]
    fn the_factor_is_bounded_and_needs_enough() {
        assert_eq!(Calibration::of(100, 10), Calibration::default());
        assert_eq!(Calibration::of(1_300, 1_000).apply(10_000), 13_000);
        assert_eq!(Calibration::of(1_000_000, 1_000).apply(100), 300);
    }
}
