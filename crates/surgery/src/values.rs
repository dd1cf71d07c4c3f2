//! Removes extracted values from rows of Claude Code, on their way into a new session. Pure: it
//! returns the values, and the caller stores them.
//!
//! A result or an argument leaves a placeholder, a string for a string: blocks, pairs and ids stay.
//! A signed block leaves nothing. A placeholder would be a text in the agent's own voice, which
//! models imitate, and the message is valid without the block.

use std::sync::Arc;

use extract::edit;
use extract::entry::Trigger;
use extract::placeholder::{self, About};
use extract::plan::Item;
use sessions::span::{self, Span};

/// A second copy of a result in its row: the client shows it and sends it to nobody.
const COPY: &str = "toolUseResult";
/// The key of a message's blocks.
const CONTENT: &str = "message.content";
/// How deep arguments are searched.
const DEEPEST: usize = 32;

/// A value that was taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Its key in the row that remains.
    pub key: String,
    /// Where its JSON is in the original row.
    pub at: Span,
    /// The JSON in its place; empty if there is none.
    pub placeholder: Vec<u8>,
    /// What kind of value it is.
    pub trigger: Trigger,
    /// Its tool, if any.
    pub tool: Option<Arc<str>>,
}

/// What remains of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lean {
    /// The row; `None` if nothing of its message remains.
    pub line: Option<Vec<u8>>,
    /// The values that were taken, in order.
    pub taken: Vec<Taken>,
    /// The blocks of the message that were removed whole, ascending.
    pub gone: Vec<usize>,
}

/// The row without these values, which are in order; `None` if it stays as it is. Placeholders call
/// its entry `name`. Ignores a value that is not where its key says.
pub fn row(line: &[u8], items: &[Item], name: &str) -> Option<Lean> {
    let blocks = blocks(line);
    let there = |item: &&Item| edit::locate(line, &item.key) == Some(item.span);
    let items = || items.iter().filter(there).filter(|item| !is_copy(&item.key));
    let mut gone: Vec<usize> = items()
        .filter(|item| item.whole)
        .filter_map(|item| item.key.strip_prefix(CONTENT)?.strip_prefix('.')?.parse().ok())
        .filter(|block| *block < blocks.len())
        .collect();
    gone.sort_unstable();
    gone.dedup();
    let (mut taken, mut places) = (Vec::new(), Vec::new());
    for item in items() {
        let value = |key, at, placeholder| Taken {
            key,
            at,
            placeholder,
            trigger: item.trigger,
            tool: item.tool.clone(),
        };
        if item.whole {
            taken.push(value(item.key.to_string(), item.span, Vec::new()));
            continue;
        }
        for (key, at) in strings(line, item.span, &item.key) {
            let json = at.slice(line);
            let about = About { entry: name, tool: item.tool.as_deref(), json };
            if let Some(put) = placeholder::json(&about, false) {
                taken.push(value(shifted(&key, &gone), at, put.clone()));
                places.push((at, put));
            }
        }
    }
    if taken.is_empty() {
        return None;
    }
    if !gone.is_empty() && gone.len() == blocks.len() {
        return Some(Lean { line: None, taken, gone });
    }
    places.extend(removals(&blocks, &gone).map(|at| (at, Vec::new())));
    places.sort_by_key(|(at, _)| at.start);
    let left = edit::replaced(line, &places);
    // Its type would have to match the whole result; the client works without it.
    let result = taken.iter().any(|value| value.trigger == Trigger::ToolResult);
    let bare = Some(()).filter(|()| result).and_then(|()| edit::with_field(&left, COPY, None));
    Some(Lean { line: Some(bare.unwrap_or(left)), taken, gone })
}

/// Whether a key is in the second copy of a result, which goes with the result itself.
pub fn is_copy(key: &str) -> bool {
    key == COPY || key.strip_prefix(COPY).is_some_and(|rest| rest.starts_with('.'))
}

/// The key after these blocks of the message are removed.
pub fn shifted(key: &str, gone: &[usize]) -> String {
    let parts = || {
        let rest = key.strip_prefix(CONTENT)?.strip_prefix('.')?;
        let (block, rest) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
        Some((block.parse::<usize>().ok()?, rest))
    };
    match parts() {
        Some((block, rest)) if !gone.is_empty() => {
            let before = gone.iter().take_while(|at| **at < block).count();
            format!("{CONTENT}.{}{rest}", block - before)
        }
        _ => key.to_owned(),
    }
}

/// Where the blocks of the row's message are.
fn blocks(line: &[u8]) -> Vec<Span> {
    let mut items = Vec::new();
    let Some(content) = edit::locate(line, CONTENT) else { return items };
    if span::items(content.slice(line), &mut items).is_none() {
        return Vec::new();
    }
    items.into_iter().map(|at| at.shifted(content.start)).collect()
}

/// What to cut from an array to remove these items with their commas.
fn removals(items: &[Span], gone: &[usize]) -> impl Iterator<Item = Span> {
    let is_gone = |at: &usize| gone.binary_search(at).is_ok();
    let tail = (0..items.len()).rev().take_while(is_gone).count();
    let kept = items.len() - tail;
    let inner = gone.iter().filter(move |at| **at < kept);
    let inner = inner.map(|at| Span { start: items[*at].start, end: items[*at + 1].start });
    let last = (tail > 0 && kept > 0)
        .then(|| Span { start: items[kept - 1].end, end: items[items.len() - 1].end });
    inner.chain(last)
}

/// The strings in a value, with their keys: the value itself, or all strings inside it.
fn strings(line: &[u8], at: Span, key: &str) -> Vec<(String, Span)> {
    let mut found = Vec::new();
    find_strings(line, at, key, DEEPEST, &mut found);
    found
}

fn find_strings(line: &[u8], at: Span, key: &str, depth: usize, found: &mut Vec<(String, Span)>) {
    let json = at.slice(line);
    match json.first() {
        Some(b'"') => found.push((key.to_owned(), at)),
        Some(b'{') if depth > 0 => {
            let mut fields = Vec::new();
            span::fields(json, &mut fields);
            for field in fields {
                // A key is a path with dots: a name with a dot or an escape cannot be in one.
                let Ok(name) = std::str::from_utf8(field.name.slice(json)) else { continue };
                if !name.is_empty() && !name.contains(['.', '\\']) {
                    let value = field.value.shifted(at.start);
                    find_strings(line, value, &format!("{key}.{name}"), depth - 1, found);
                }
            }
        }
        Some(b'[') if depth > 0 => {
            let mut items = Vec::new();
            span::items(json, &mut items);
            for (number, item) in items.into_iter().enumerate() {
                let item = item.shifted(at.start);
                find_strings(line, item, &format!("{key}.{number}"), depth - 1, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
