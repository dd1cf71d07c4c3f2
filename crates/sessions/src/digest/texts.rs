//! Texts of a message in the form that the index stores.

use std::borrow::Cow;

use crate::fill;
use crate::span;

/// The start of a text on one line: at most that many characters, blanks collapsed, then `...` if
/// there is more. Control characters count as blanks.
pub fn preview(text: &str, characters: usize) -> String {
    let (mut line, more) = cut(text, characters);
    if more {
        line.push_str("...");
    }
    line
}

/// The start of a text on one line, and whether there is more.
pub fn cut(text: &str, characters: usize) -> (String, bool) {
    let mut line = String::new();
    let (mut count, mut gap) = (0, false);
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            gap = count > 0;
            continue;
        }
        if count + usize::from(gap) >= characters {
            return (line, true);
        }
        if gap {
            line.push(' ');
            count += 1;
            gap = false;
        }
        line.push(c);
        count += 1;
    }
    (line, false)
}

/// The text of a block or of a message's whole content, from its JSON: a string, an object's
/// `text`, or those of the objects in an array. Empty if there is none.
pub fn from_json(json: &[u8]) -> Cow<'_, str> {
    match json.first() {
        Some(b'"') => span::text(json).unwrap_or_default(),
        Some(b'[') => {
            let mut items = Vec::new();
            span::items(json, &mut items);
            let mut all = String::new();
            for item in items {
                append(&mut all, &from_json(item.slice(json)));
            }
            Cow::Owned(all)
        }
        _ => {
            let mut fields = Vec::new();
            span::fields(json, &mut fields);
            span::get(json, &fields, "text").and_then(span::text).unwrap_or_default()
        }
    }
}

/// Adds a text as a paragraph of its own. Returns where it begins; `None` if it is blank.
pub fn append(all: &mut String, text: &str) -> Option<usize> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    if !all.is_empty() {
        all.push_str("\n\n");
    }
    let begins = all.len();
    all.push_str(text);
    Some(begins)
}

/// Bytes of content for the token estimate; an image counts by its cost.
pub fn weight(content: &[u8]) -> u64 {
    /// Shorter content holds no image worth a search.
    const SHORT: usize = 4_000;
    match str::from_utf8(content) {
        Ok(text) if text.len() > SHORT => fill::weight(text),
        _ => content.len() as u64,
    }
}
