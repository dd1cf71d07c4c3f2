//! The keys of values: a session has many values and few keys, so each key is stored once.

use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The most keys that are stored once: this bounds the memory.
const MOST: usize = 4096;

/// A value's path in its row: `message.content.0.text`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

impl Key {
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Key {
    fn from(key: &str) -> Self {
        Self(key.into())
    }
}

impl Deref for Key {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<&str> for Key {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == **other
    }
}

impl PartialEq<String> for Key {
    fn eq(&self, other: &String) -> bool {
        *self.0 == **other
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The keys seen so far.
#[derive(Debug, Default)]
pub struct Keys {
    known: HashSet<Arc<str>>,
    path: String,
}

impl Keys {
    /// The key for this path.
    pub fn of(&mut self, key: &str) -> Key {
        if let Some(known) = self.known.get(key) {
            return Key(Arc::clone(known));
        }
        let kept: Arc<str> = key.into();
        if self.known.len() < MOST {
            self.known.insert(Arc::clone(&kept));
        }
        Key(kept)
    }

    /// The key of a field (with its dot; empty for the whole block) in the message's block `index`.
    pub fn in_block(&mut self, index: usize, field: &str) -> Key {
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        path.push_str("message.content");
        numbered(&mut path, index);
        path.push_str(field);
        let key = self.of(&path);
        self.path = path;
        key
    }
}

/// Appends an index to a path.
pub fn numbered(path: &mut String, index: usize) {
    use std::fmt::Write;
    // Writing to a `String` cannot fail.
    let _ = write!(path, ".{index}");
}
