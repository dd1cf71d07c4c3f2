//! A line of the ledger, in memory: words and files that many records name are kept once, and
//! what is hex in the file is bytes here.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::object::{Digest, Object};
use base::clock::Time;

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
