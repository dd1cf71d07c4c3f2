//! Parses `keybindings.json` as the client does, and keeps the position of each part.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One key of a chord, with its modifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub(super) name: String,
    pub(super) ctrl: bool,
    pub(super) alt: bool,
    pub(super) shift: bool,
    pub(super) command: bool,
}

/// One binding of the file: what a chord does in a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The context where it applies.
    pub context: String,
    pub(super) chord: Vec<Key>,
    /// What it does; `None` unbinds.
    pub action: Option<String>,
}

impl Binding {
    pub(super) fn does(&self, action: &str) -> bool {
        self.action.as_deref() == Some(action)
    }

    /// Whether the client, after this chord, would wait for more keys of this binding.
    pub(super) fn extends_chord(&self, chord: &[Key]) -> bool {
        self.action.is_some() && self.chord.len() > chord.len() && self.chord.starts_with(chord)
    }
}

/// Why the client cannot read the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Unreadable {
    /// The line number, from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

/// A file's bindings in their order.
///
/// # Errors
/// What makes the client drop the whole file.
pub fn parse(text: &str) -> Result<Vec<Binding>, Unreadable> {
    let file = File::read(text)?;
    let bindings = file.blocks.iter().flat_map(|block| {
        block.entries.iter().filter_map(|entry| {
            let (context, action) = (block.context.clone(), entry.action.clone());
            Some(Binding { context, chord: chord(&entry.key)?, action })
        })
    });
    Ok(bindings.collect())
}

/// Parses a chord; `None` if a stroke holds two keys (the client ignores it).
pub(super) fn chord(text: &str) -> Option<Vec<Key>> {
    text.split_whitespace().map(key).collect()
}

fn key(text: &str) -> Option<Key> {
    let mut found =
        Key { name: String::new(), ctrl: false, alt: false, shift: false, command: false };
    for part in text.split('+') {
        match part.to_lowercase().as_str() {
            "ctrl" | "control" => found.ctrl = true,
            "alt" | "opt" | "option" | "meta" => found.alt = true,
            "shift" => found.shift = true,
            "cmd" | "command" | "super" | "win" => found.command = true,
            "" => {}
            name if found.name.is_empty() => name.clone_into(&mut found.name),
            _ => return None,
        }
    }
    Some(found)
}

/// A byte range of the text.
pub(super) type Span = std::ops::Range<usize>;

/// The file with the positions of its parts.
pub(super) struct File {
    /// The list of blocks, brackets included.
    pub list: Span,
    pub blocks: Vec<Block>,
}

pub(super) struct Block {
    pub span: Span,
    pub context: String,
    pub entries: Vec<Entry>,
}

pub(super) struct Entry {
    /// From the key's quote to the end of the action; empty if the key is written with escapes.
    pub span: Span,
    pub key: String,
    pub action: Option<String>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with the key bindings")]
struct RawFile<'a> {
    #[serde(borrow)]
    bindings: &'a RawValue,
}

#[derive(Deserialize)]
struct RawBlock<'a> {
    context: String,
    #[serde(borrow)]
    bindings: Entries<'a>,
}

/// An object's entries in their order, duplicates included.
struct Entries<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of chords and actions")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some((Name(key), value)) = map.next_entry()? {
                    entries.push((key, value));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

impl File {
    pub fn read(text: &str) -> Result<Self, Unreadable> {
        let at = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
        let span = |part: &str| at(part)..at(part) + part.len();
        // An error inside a part counts lines from the start of that part.
        let wrong = |within: &str, e: &serde_json::Error| {
            let before = text[..at(within)].matches('\n').count();
            let what = e.to_string();
            let mut what = what.split(" at line ").next().unwrap_or_default().to_owned();
            if text.lines().any(|line| line.trim_start().starts_with("//")) {
                what.push_str(" (JSON has no comments)");
            }
            Unreadable { line: before + e.line().max(1), what }
        };
        let file: RawFile = serde_json::from_str(text).map_err(|e| wrong(text, &e))?;
        let list = file.bindings.get();
        let raw: Vec<&RawValue> = serde_json::from_str(list).map_err(|e| wrong(list, &e))?;
        let block = |raw: &&RawValue| {
            let raw = raw.get();
            let block: RawBlock = serde_json::from_str(raw).map_err(|e| wrong(raw, &e))?;
            let entry = |(key, value): &(Cow<str>, &RawValue)| {
                let value = value.get();
                let action = serde_json::from_str(value).map_err(|e| wrong(value, &e))?;
                let start =
                    if let Cow::Borrowed(key) = key { at(key) - 1 } else { span(value).end };
                Ok(Entry { span: start..span(value).end, key: key.to_string(), action })
            };
            let entries: Result<Vec<Entry>, Unreadable> =
                block.bindings.0.iter().map(entry).collect();
            Ok(Block { span: span(raw), context: block.context, entries: entries? })
        };
        let blocks: Result<Vec<Block>, Unreadable> = raw.iter().map(block).collect();
        Ok(Self { list: span(list), blocks: blocks? })
    }
}
