//! Parses ledger lines into records that share their texts and paths.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::object::{Digest, Object};
use super::record::{Extract, Record, Set, Shared, Word};
use base::clock::Time;

/// A text of a line, borrowed from it unless it has escapes.
#[derive(Deserialize)]
struct Text<'l>(#[serde(borrow)] Cow<'l, str>);

/// A line of the file.
#[derive(Deserialize)]
struct Line<'l> {
    #[serde(borrow)]
    did: Text<'l>,
    #[serde(borrow)]
    entry: Text<'l>,
    #[serde(borrow)]
    key: Option<Text<'l>>,
    #[serde(borrow)]
    object: Option<Text<'l>>,
    bytes: Option<u64>,
    #[serde(borrow)]
    placeholder: Option<Text<'l>>,
    #[serde(borrow)]
    tool: Option<Text<'l>>,
    #[serde(borrow)]
    trigger: Option<Text<'l>>,
    at: Time,
    #[serde(borrow)]
    file: Option<Text<'l>>,
    #[serde(borrow)]
    row: Option<Text<'l>>,
    keys: Option<Vec<Text<'l>>>,
    redacted: Option<bool>,
    #[serde(default, deserialize_with = "said")]
    value: Option<Value>,
    in_row: Option<bool>,
}

/// Makes null a value, different from a missing field.
fn said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Texts and paths of records, each stored once.
#[derive(Debug, Default)]
pub struct Words {
    words: HashSet<Word>,
    files: HashSet<Shared<Path>>,
}

impl Words {
    /// Parses a record.
    pub(super) fn record(&mut self, line: &[u8]) -> Result<Record, serde_json::Error> {
        let line: Line = serde_json::from_slice(line)?;
        self.of(line)
    }

    /// Parses a record if it is an extraction in one of these rows.
    pub(super) fn of_rows(
        &mut self,
        line: &[u8],
        rows: &HashSet<String>,
    ) -> Result<Option<Record>, serde_json::Error> {
        let line: Line = serde_json::from_slice(line)?;
        let row = line.row.as_ref().unwrap_or(&line.entry);
        let wanted = line.did.0 == "extract" && rows.contains(&*row.0);
        if wanted { self.of(line).map(Some) } else { Ok(None) }
    }

    fn of(&mut self, line: Line) -> Result<Record, serde_json::Error> {
        let missing = serde_json::Error::missing_field;
        let (entry, at) = (self.word(&line.entry.0), line.at);
        let file = line.file.map(|file| self.file(&file)).ok_or_else(|| missing("file"));
        match &*line.did.0 {
            "extract" => {
                let file = file?;
                let placeholder =
                    match &*line.placeholder.ok_or_else(|| missing("placeholder"))?.0 {
                        "" => None,
                        hex => Some(Digest::from_hex(hex).ok_or_else(|| {
                            serde_json::Error::custom("`placeholder` is no SHA-256")
                        })?),
                    };
                Ok(Record::from(Extract {
                    entry,
                    key: self.word(&line.key.ok_or_else(|| missing("key"))?.0),
                    object: Object::from(&*line.object.ok_or_else(|| missing("object"))?.0),
                    bytes: line.bytes.ok_or_else(|| missing("bytes"))?,
                    placeholder,
                    tool: line.tool.map(|tool| self.word(&tool.0)),
                    trigger: self.word(&line.trigger.ok_or_else(|| missing("trigger"))?.0),
                    at,
                    file,
                    row: line.row.map(|row| self.word(&row.0)),
                }))
            }
            "restore" => {
                let keys = line.keys.ok_or_else(|| missing("keys"))?;
                let keys = keys.iter().map(|key| self.word(&key.0)).collect();
                let redacted = line.redacted.ok_or_else(|| missing("redacted"))?;
                Ok(Record::Restore { entry, keys, at, redacted })
            }
            "set" => {
                let (file, in_row) = (file?, line.in_row.unwrap_or_default());
                let value = line.value.ok_or_else(|| missing("value"))?;
                Ok(Record::Set(Box::new(Set { entry, value, at, file, in_row })))
            }
            other => Err(serde_json::Error::unknown_variant(other, &["extract", "restore", "set"])),
        }
    }

    /// Interns a text: equal texts share one allocation.
    pub fn word(&mut self, text: &str) -> Word {
        if let Some(word) = self.words.get(text) {
            return word.clone();
        }
        let word = Word::from(text);
        self.words.insert(word.clone());
        word
    }

    fn file(&mut self, text: &Text) -> Shared<Path> {
        let path = Path::new(&*text.0);
        if let Some(file) = self.files.get(path) {
            return file.clone();
        }
        let file = Shared::from(path);
        self.files.insert(file.clone());
        file
    }
}
