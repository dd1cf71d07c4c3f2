//! A line of the ledger, in memory: words and files that many records name are kept once, and
//! what is hex in the file is bytes here.

use std::borrow::{Borrow, Cow};
use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::object::{Digest, Object};
use crate::clock::Time;

/// A text, or a path, of which a record has its part: it is written as it is.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shared<T: ?Sized>(Arc<T>);

/// A text that many records have.
pub type Word = Shared<str>;

impl<T: ?Sized> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> Borrow<T> for Shared<T> {
    fn borrow(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized + Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        T::serialize(&self.0, serializer)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Word {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&Path> for Shared<Path> {
    fn from(path: &Path) -> Self {
        Self(path.into())
    }
}

impl From<PathBuf> for Shared<Path> {
    fn from(path: PathBuf) -> Self {
        Self(path.into())
    }
}

impl From<Extract> for Shared<Extract> {
    fn from(extract: Extract) -> Self {
        Self(extract.into())
    }
}

impl Shared<Extract> {
    /// To be changed: a copy, where others have it too.
    pub fn own(&mut self) -> &mut Extract {
        Arc::make_mut(&mut self.0)
    }
}

/// A value that went into the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Extract {
    /// Its entry.
    pub entry: Word,
    /// Its key.
    pub key: Word,
    /// The object: the SHA-256 of its raw JSON, and where that is kept.
    pub object: Object,
    /// Bytes of it.
    pub bytes: u64,
    /// Of the raw JSON that was put in its place; none where nothing was.
    #[serde(serialize_with = "hex")]
    pub placeholder: Option<Digest>,
    /// Its tool, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Word>,
    /// `thinking`, `tool_result`, …
    pub trigger: Word,
    /// When.
    pub at: Time,
    /// The session's file.
    pub file: Shared<Path>,
    /// The row it is in, where that has another id than the entry: placeholders that a new
    /// session of Claude Code's takes over name the rows of the sessions before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<Word>,
}

impl Extract {
    /// The row that holds its placeholder.
    pub fn row(&self) -> &str {
        self.row.as_ref().unwrap_or(&self.entry)
    }

    /// SHA-256 of the content that was extracted: two objects may hold the same.
    pub fn content(&self) -> Digest {
        self.object.content()
    }
}

/// Nothing is an empty text.
#[expect(clippy::ref_option, reason = "serde's way to call it")]
fn hex<S: Serializer>(digest: &Option<Digest>, serializer: S) -> Result<S::Ok, S::Error> {
    match digest {
        Some(digest) => serializer.collect_str(digest),
        None => serializer.serialize_str(""),
    }
}

/// A line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "did", rename_all = "kebab-case")]
pub enum Record {
    /// A value went into the store.
    Extract(Shared<Extract>),
    /// Values came back.
    Restore {
        /// Their entry.
        entry: Word,
        /// Their keys.
        keys: Vec<Word>,
        /// When.
        at: Time,
        /// The call that asked was redacted.
        redacted: bool,
    },
    /// Somebody said of an entry whether it may be extracted, while its row could not be written.
    Set(Box<Set>),
}

/// What was said of an entry in its row's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Set {
    /// The entry, by the id of its row.
    pub entry: Word,
    /// What `_extractable` would be in the row: true, false, a number of messages; null takes
    /// back what was said.
    pub value: Value,
    /// When.
    pub at: Time,
    /// The session's file.
    pub file: Shared<Path>,
    /// The row says it itself now, or what holds: what was said before is over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_row: bool,
}

impl From<Extract> for Record {
    fn from(extract: Extract) -> Self {
        Self::Extract(extract.into())
    }
}

impl Record {
    /// What a record says of a placeholder's JSON.
    pub fn digest(json: &[u8]) -> Digest {
        Digest::of(json)
    }

    /// What it says of an extraction, where it is of one.
    pub fn extract(&self) -> Option<&Shared<Extract>> {
        if let Self::Extract(extract) = self { Some(extract) } else { None }
    }

    /// The entry it is about.
    pub fn entry(&self) -> &Word {
        match self {
            Self::Extract(extract) => &extract.entry,
            Self::Restore { entry, .. } => entry,
            Self::Set(set) => &set.entry,
        }
    }

    /// Its object.
    pub fn object(&self) -> Option<&Object> {
        self.extract().map(|extract| &extract.object)
    }

    /// When it was.
    pub fn at(&self) -> Time {
        match self {
            Self::Extract(extract) => extract.at,
            Self::Restore { at, .. } => *at,
            Self::Set(set) => set.at,
        }
    }
}

/// A text of a line: as it stands there, where nothing in it is escaped.
#[derive(Deserialize)]
struct Text<'l>(#[serde(borrow)] Cow<'l, str>);

/// A line as it stands in the file.
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

/// Null says something, too.
fn said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Reads records, with words and files that were read before.
#[derive(Debug, Default)]
pub(super) struct Words {
    words: HashSet<Word>,
    files: HashSet<Shared<Path>>,
}

impl Words {
    /// The record on a line.
    ///
    /// # Errors
    /// What is no record.
    pub fn record(&mut self, line: &[u8]) -> Result<Record, serde_json::Error> {
        let line: Line = serde_json::from_slice(line)?;
        self.of(line)
    }

    /// The record of an extraction that is in one of these rows.
    ///
    /// # Errors
    /// What is no record.
    pub fn of_rows(
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
        let (entry, at) = (self.word(&line.entry), line.at);
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
                    key: self.word(&line.key.ok_or_else(|| missing("key"))?),
                    object: Object::from(&*line.object.ok_or_else(|| missing("object"))?.0),
                    bytes: line.bytes.ok_or_else(|| missing("bytes"))?,
                    placeholder,
                    tool: line.tool.map(|tool| self.word(&tool)),
                    trigger: self.word(&line.trigger.ok_or_else(|| missing("trigger"))?),
                    at,
                    file,
                    row: line.row.map(|row| self.word(&row)),
                }))
            }
            "restore" => {
                let keys = line.keys.ok_or_else(|| missing("keys"))?;
                let keys = keys.iter().map(|key| self.word(key)).collect();
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

    fn word(&mut self, text: &Text) -> Word {
        let text = &*text.0;
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
