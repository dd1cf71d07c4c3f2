//! The text that replaces a value. The ledger decides what is a placeholder, never the look of a
//! text.

mod bound;
mod marked;

use base::shown::size;
use std::fmt::Write as _;

use serde_json::json;

pub use bound::long;
pub use marked::{marked, plain};

use super::text;
use sessions::settings::Placeholder;

/// How the JSON of a possible placeholder begins. One inside a quoted string begins differently.
pub const BEGIN: &[u8] = b"\"[[extracted-";

/// Bytes that a placeholder must save.
pub const GAIN: usize = 100;

/// The most characters of the value's end that stay.
const TAIL: u32 = 80;

/// Bytes of the longest fixed words in a placeholder.
const SAID: usize = " 9999.9 MB of , extracted. It begins: «» and ends: «». To have it back: purge_control restore  (or brain-guard extract restore  )".len();

/// What a placeholder tells about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About<'a> {
    /// The entry's id.
    pub entry: &'a str,
    /// The session, as `extract restore` takes it.
    pub session: &'a str,
    /// The tool, if there is one.
    pub tool: Option<&'a str>,
    /// The value's JSON as it is in the row: a string, or a whole block.
    pub json: &'a [u8],
    /// Characters of its start to show.
    pub keep: u32,
}

/// Characters of a value's end to show, if it shows that many of the start.
pub fn tail(keep: u32) -> u32 {
    (keep / 2).min(TAIL)
}

/// The most bytes of a placeholder in this form, besides what it shows of the value.
pub fn frame(about: &About, form: Placeholder, whole: bool) -> usize {
    let block = if whole { r#"{"text":,"type":"text"}"#.len() } else { 0 };
    let marks = r#""[[extracted-]]""#.len() + block + about.entry.len();
    match form {
        Placeholder::Plain => marks,
        Placeholder::Full => {
            let names = 2 * about.entry.len() + about.session.len();
            marks + SAID + names + about.tool.map_or(0, str::len)
        }
    }
}

/// The JSON that replaces the value: a string, or a text block for a whole block. `None` if it
/// saves too little.
pub fn json(about: &About, form: Placeholder, whole: bool) -> Option<Vec<u8>> {
    if about.json.len() <= GAIN {
        return None;
    }
    let words = words(about, form);
    let put = if whole {
        serde_json::to_vec(&json!({ "type": "text", "text": words }))
    } else {
        serde_json::to_vec(&words)
    };
    put.ok().filter(|put| put.len() + GAIN <= about.json.len())
}

fn words(about: &About, form: Placeholder) -> String {
    let mut words = format!("[[extracted-{}]]", about.entry);
    if form == Placeholder::Plain {
        return words;
    }
    // Writing to a `String` cannot fail.
    let _ = write!(words, " {}", size(about.json.len() as u64));
    if let Some(tool) = about.tool {
        let _ = write!(words, " of {}", one_line(tool));
    }
    words.push_str(", extracted");
    if about.keep > 0 && text::has_text(about.json) {
        let last = tail(about.keep) as usize;
        let (head, tail, whole) = text::ends(about.json, about.keep as usize, last);
        let _ = if whole {
            write!(words, ": «{}»", one_line(&(head + &tail)))
        } else if tail.is_empty() {
            write!(words, ". It begins: «{}»", one_line(&head))
        } else {
            let (head, tail) = (one_line(&head), one_line(&tail));
            write!(words, ". It begins: «{head}» and ends: «{tail}»")
        };
    }
    let _ = write!(
        words,
        ". To have it back: purge_control restore {entry} (or brain-guard extract restore {} {entry})",
        one_line(about.session),
        entry = about.entry
    );
    words
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
