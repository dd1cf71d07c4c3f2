//! The text that replaces a value. The ledger decides what is a placeholder, never the look of a
//! text.

use std::collections::HashMap;
use std::fmt::Write as _;

use base::paths::short_digest;
use base::shown::size;
use serde_json::json;

use super::text;

/// How the JSON of a possible placeholder begins. One inside a quoted string begins differently.
pub const BEGIN: &[u8] = b"\"[[extracted-";

/// Bytes that a placeholder must save.
pub const GAIN: usize = 100;

/// The most bytes of a placeholder's JSON, unless the entry's id alone is longer.
pub const LONGEST: usize = 160;

/// Bytes around a placeholder that stands for a whole block.
const BLOCK: usize = r#"{"text":,"type":"text"}"#.len();

/// The most characters of a tool's name.
const TOOL: usize = 32;

/// Characters of an id that name its entry, if no other one begins with them.
const SHORT: usize = 8;

/// Digits of a digest that tell contents apart, which may be of one size and begin alike.
const MARK: usize = 8;

/// What a placeholder tells about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About<'a> {
    /// The entry's name ([`Names::of`]).
    pub entry: &'a str,
    /// The tool, if there is one.
    pub tool: Option<&'a str>,
    /// The value's JSON as it is in the row: a string, or a whole block.
    pub json: &'a [u8],
}

/// The names of a session's entries in its placeholders: the beginning of a long id, where that is
/// unique among the extracted entries.
#[derive(Debug, Clone, Default)]
pub struct Names(HashMap<String, String>);

impl Names {
    /// The entry that a short name means.
    pub fn owner(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The entry's name.
    pub fn of<'e>(&mut self, entry: &'e str) -> &'e str {
        let is_uuid = entry.len() == 36 && entry.as_bytes()[SHORT] == b'-';
        let Some(short) = entry.get(..SHORT).filter(|_| is_uuid) else { return entry };
        let owner = self.0.entry(short.to_owned()).or_insert_with(|| entry.to_owned());
        if owner == entry { short } else { entry }
    }
}

impl<'e> FromIterator<&'e str> for Names {
    /// The names that these entries have.
    fn from_iter<T: IntoIterator<Item = &'e str>>(entries: T) -> Self {
        let mut names = Self::default();
        for entry in entries {
            names.of(entry);
        }
        names
    }
}

/// The bytes of a placeholder for a long text.
pub fn length(whole: bool) -> usize {
    if whole { LONGEST + BLOCK } else { LONGEST }
}

/// Bytes from which a value of this entry is long enough for any placeholder.
pub fn long(entry: &str) -> usize {
    // In JSON, a character of an id may take six bytes.
    length(true) + 6 * entry.len() + GAIN
}

/// The JSON that replaces the value: a string, or a text block for a whole block. `None` if it
/// saves too little.
pub fn json(about: &About, whole: bool) -> Option<Vec<u8>> {
    if about.json.len() <= GAIN {
        return None;
    }
    let words = words(about);
    let put = if whole {
        serde_json::to_vec(&json!({ "type": "text", "text": words }))
    } else {
        serde_json::to_vec(&words)
    };
    put.ok().filter(|put| put.len() + GAIN <= about.json.len())
}

fn words(about: &About) -> String {
    let mut words = format!("[[extracted-{}]] {}", about.entry, size(about.json.len() as u64));
    if let Some(tool) = about.tool {
        let tool: String = one_line(tool).chars().take(TOOL).collect();
        // Writing to a `String` cannot fail.
        let _ = write!(words, " of {tool}");
    }
    let _ = write!(words, " #{}", &short_digest(about.json)[..MARK]);
    let taken = r#""""#.len() + in_json(&words) + ": «…»".len();
    let Some(room) = LONGEST.checked_sub(taken).filter(|_| text::has_text(about.json)) else {
        return words;
    };
    // More than fits, because blanks become one.
    let (beginning, is_whole) = text::beginning(about.json, 2 * LONGEST);
    let beginning = one_line(&beginning);
    let mut length = 0;
    let shown: String = beginning
        .chars()
        .take_while(|c| {
            length += in_json(c.encode_utf8(&mut [0; 4]));
            length <= room
        })
        .collect();
    if !shown.is_empty() {
        let more = if is_whole && shown == beginning { "" } else { "…" };
        let _ = write!(words, ": «{}{more}»", shown.trim_end());
    }
    words
}

/// Bytes of a text on one line in JSON.
fn in_json(text: &str) -> usize {
    text.len() + text.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count()
}

/// Text on one line that cannot end the quotation around it: runs of blanks, control characters and
/// direction marks become one space.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        let c = match c {
            '«' => '‹',
            '»' => '›',
            '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' => ' ',
            c if c.is_control() || c.is_whitespace() => ' ',
            c => c,
        };
        if c != ' ' || !line.ends_with(' ') {
            line.push(c);
        }
    }
    let trimmed = line.trim();
    if trimmed.len() == line.len() { line } else { trimmed.to_owned() }
}

#[cfg(test)]
mod tests;
