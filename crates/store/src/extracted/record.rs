//! Ledger records in memory: texts and paths that many records share are stored once, and hex
//! digests as bytes.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::object::{Digest, Object};
use base::clock::Time;

/// A shared text or path; it is serialized like a plain one.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shared<T: ?Sized>(Arc<T>);

/// A text that many records share.
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
    /// Mutable access; makes a copy if others share the value.
    pub fn make_mut(&mut self) -> &mut Extract {
        Arc::make_mut(&mut self.0)
    }
}

/// A value that was moved into the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Extract {
    /// Its entry.
    pub entry: Word,
    /// Its key.
    pub key: Word,
    /// The object: the SHA-256 of the raw JSON, and its location.
    pub object: Object,
    /// Its size in bytes.
    pub bytes: u64,
    /// The digest of the raw JSON that replaced it; `None` if nothing did.
    #[serde(serialize_with = "hex")]
    pub placeholder: Option<Digest>,
    /// Its tool, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Word>,
    /// `thinking`, `tool_result`, …
    pub trigger: Word,
    /// When.
    pub at: Time,
    /// The session's file.
    pub file: Shared<Path>,
    /// The row it is in, if that has another id than the entry. Placeholders that a new session of
    /// Claude Code copies name rows of earlier sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<Word>,
}

impl Extract {
    /// The row that holds its placeholder.
    pub fn row(&self) -> &str {
        self.row.as_ref().unwrap_or(&self.entry)
    }

    /// SHA-256 of the extracted content; two objects may share it.
    pub fn content(&self) -> Digest {
        self.object.content()
    }
}

/// `None` is an empty text.
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
    /// A value was moved into the store.
    Extract(Shared<Extract>),
    /// Values were restored.
    Restore {
        /// Their entry.
        entry: Word,
        /// Their keys.
        keys: Vec<Word>,
        /// When.
        at: Time,
        /// Whether the call that asked for them was redacted.
        redacted: bool,
    },
    /// An entry's extractable flag was set while its row could not be written.
    Set(Box<Set>),
}

/// An extractable flag that is stored here instead of in the entry's row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Set {
    /// The entry, by the id of its row.
    pub entry: Word,
    /// The value of `_extractable`: true, false, a number of messages; null withdraws what was
    /// said.
    pub value: Value,
    /// When.
    pub at: Time,
    /// The session's file.
    pub file: Shared<Path>,
    /// Whether the row now has the right flag itself, so that earlier records are void.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_row: bool,
}

impl From<Extract> for Record {
    fn from(extract: Extract) -> Self {
        Self::Extract(extract.into())
    }
}

impl Record {
    /// The digest of a placeholder's JSON, as in a record.
    pub fn digest(json: &[u8]) -> Digest {
        Digest::of(json)
    }

    /// The extraction, if it is one.
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

    /// Its object, if it has one.
    pub fn object(&self) -> Option<&Object> {
        self.extract().map(|extract| &extract.object)
    }

    /// When it was made.
    pub fn at(&self) -> Time {
        match self {
            Self::Extract(extract) => extract.at,
            Self::Restore { at, .. } => *at,
            Self::Set(set) => set.at,
        }
    }
}
