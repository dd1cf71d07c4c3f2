//! The ledger of a session: what was extracted and restored, a line of JSON each, append-only.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::digest;
use crate::clock::Time;

/// A line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "kebab-case")]
pub enum Record {
    /// A value went into the store.
    Extract {
        /// Its entry.
        entry: String,
        /// Its key.
        key: String,
        /// The id of the object: the SHA-256 of its raw JSON, and where that is kept.
        object: String,
        /// Bytes of it.
        bytes: u64,
        /// SHA-256 of the raw JSON that was put in its place: [`Record::digest`].
        placeholder: String,
        /// Its tool, where it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// `thinking`, `tool_result`, …
        trigger: String,
        /// When.
        at: Time,
        /// The session's file.
        file: PathBuf,
        /// The row it is in, where that has another id than the entry: placeholders that a new
        /// session of Claude Code's takes over name the rows of the sessions before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        row: Option<String>,
    },
    /// Values came back.
    Restore {
        /// Their entry.
        entry: String,
        /// Their keys.
        keys: Vec<String>,
        /// When.
        at: Time,
        /// The call that asked was redacted.
        redacted: bool,
    },
    /// Somebody said of an entry whether it may be extracted, while its row could not be written.
    Set {
        /// The entry, by the id of its row.
        entry: String,
        /// What `_extractable` would be in the row: true, false, a number of messages; null takes
        /// back what was said.
        value: Value,
        /// When.
        at: Time,
        /// The session's file.
        file: PathBuf,
        /// The row says it itself now, or what holds: what was said before is over.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        in_row: bool,
    },
}

impl Record {
    /// What a record says of a placeholder's JSON.
    pub fn digest(json: &[u8]) -> String {
        digest(json)
    }

    /// The entry it is about.
    pub fn entry(&self) -> &str {
        match self {
            Self::Extract { entry, .. } | Self::Restore { entry, .. } | Self::Set { entry, .. } => {
                entry
            }
        }
    }

    /// The row that holds its placeholder.
    pub fn row(&self) -> &str {
        match self {
            Self::Extract { row: Some(row), .. } => row,
            other => other.entry(),
        }
    }

    /// SHA-256 of the content that was extracted: two objects may hold the same.
    pub fn content(&self) -> Option<&str> {
        self.object()?.split('-').next()
    }

    /// Its object.
    pub fn object(&self) -> Option<&str> {
        if let Self::Extract { object, .. } = self { Some(object) } else { None }
    }

    /// The session file that it was extracted from, or seen in.
    pub fn file(&self) -> Option<&Path> {
        if let Self::Extract { file, .. } = self { Some(file) } else { None }
    }

    /// When it was.
    pub fn at(&self) -> Time {
        match self {
            Self::Extract { at, .. } | Self::Restore { at, .. } | Self::Set { at, .. } => *at,
        }
    }
}

/// What a ledger says of each value.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// In their order.
    pub records: Vec<Record>,
    /// Where in `records` those of an entry are.
    by_entry: HashMap<String, Vec<usize>>,
}

impl Ledger {
    /// One that says this.
    pub fn of(records: Vec<Record>) -> Self {
        let mut by_entry: HashMap<String, Vec<usize>> = HashMap::new();
        for (n, record) in records.iter().enumerate() {
            match by_entry.get_mut(record.entry()) {
                Some(places) => places.push(n),
                None => drop(by_entry.insert(record.entry().to_owned(), vec![n])),
            }
        }
        Self { records, by_entry }
    }

    /// The last extraction that put this JSON at (entry, key), where one did: then it is a
    /// placeholder.
    pub fn placeholder(&self, entry: &str, key: &str, json: &[u8]) -> Option<&Record> {
        self.fitting(entry, key, json).first().copied()
    }

    /// All of them, newest first. They may be of different content: of a session's older edition,
    /// or of another file that has its ledger here.
    pub fn fitting(&self, entry: &str, key: &str, json: &[u8]) -> Vec<&Record> {
        let of_key =
            |record: &&Record| matches!(record, Record::Extract { key: of, .. } if of == key);
        let mut there: Vec<&Record> = self.newest_first(entry).filter(of_key).collect();
        if !there.is_empty() {
            let put = digest(json);
            there.retain(|record| {
                matches!(record, Record::Extract { placeholder, .. } if *placeholder == put)
            });
        }
        there
    }

    /// The last extraction of each value of an entry, in the order of the keys. Whether its
    /// placeholder still is in the session only [`Ledger::placeholder`] says.
    pub fn of_entry(&self, entry: &str) -> Vec<&Record> {
        let mut last: Vec<(&str, &Record)> = Vec::new();
        for record in self.newest_first(entry) {
            if let Record::Extract { key, .. } = record
                && last.iter().all(|(of, _)| of != key)
            {
                last.push((key, record));
            }
        }
        last.sort_by_key(|(key, _)| *key);
        last.into_iter().map(|(_, record)| record).collect()
    }

    /// When an entry was restored last.
    pub fn restored(&self, entry: &str) -> Option<Time> {
        self.newest_first(entry).find_map(|record| match record {
            Record::Restore { at, .. } => Some(*at),
            Record::Extract { .. } | Record::Set { .. } => None,
        })
    }

    /// What was said last of whether an entry may be extracted, where its row doesn't say it
    /// itself: null takes back what that says.
    pub fn said(&self, entry: &str) -> Option<&Value> {
        let last = self.newest_first(entry).find_map(|record| match record {
            Record::Set { value, in_row, .. } => Some((value, *in_row)),
            Record::Extract { .. } | Record::Restore { .. } => None,
        });
        last.filter(|(_, in_row)| !in_row).map(|(value, _)| value)
    }

    fn newest_first(&self, entry: &str) -> impl Iterator<Item = &Record> {
        let places = self.by_entry.get(entry).map(Vec::as_slice).unwrap_or_default();
        places.iter().rev().filter_map(|n| self.records.get(*n))
    }
}

/// The objects that records name.
pub fn objects(records: &[Record]) -> impl Iterator<Item = &str> {
    records.iter().filter_map(Record::object)
}
