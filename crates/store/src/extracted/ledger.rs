//! A session's ledger: an append-only log of extractions and restores, one JSON line each.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde_json::Value;

use super::object::Digest;
use super::record::{Extract, Record, Shared, Word};
use super::spelling;
use base::clock::Time;

/// Marks an entry's first record.
const FIRST: u32 = u32::MAX;

/// The records of a ledger, with lookups by entry.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// All records, in order.
    pub records: Vec<Record>,
    /// The index in `records` of an entry's last record.
    last: HashMap<Word, u32>,
    /// For each record, the index of the entry's previous one.
    before: Vec<u32>,
    /// The indexes of records whose row has another id than their entry, by row.
    moved: HashMap<Word, Vec<u32>>,
}

impl Ledger {
    /// A ledger of these records.
    pub fn of(records: Vec<Record>) -> Self {
        let mut ledger = Self::default();
        for record in records {
            ledger.push(record);
        }
        ledger
    }

    /// Appends a record.
    pub(super) fn push(&mut self, record: Record) {
        let at = u32::try_from(self.records.len()).unwrap_or(FIRST);
        let before = match self.last.entry(record.entry().clone()) {
            Entry::Occupied(mut last) => last.insert(at),
            Entry::Vacant(last) => {
                last.insert(at);
                FIRST
            }
        };
        self.before.push(before);
        if let Some(row) = record.extract().and_then(|extract| extract.row.as_ref()) {
            self.moved.entry(row.clone()).or_default().push(at);
        }
        self.records.push(record);
    }

    /// The entries of which something was extracted.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.records.iter().filter_map(Record::extract).map(|extract| &*extract.entry)
    }

    /// The last extraction that put this JSON at (entry, key); `None` if it is not a placeholder.
    pub fn placeholder(&self, entry: &str, key: &str, json: &[u8]) -> Option<&Shared<Extract>> {
        self.find_placeholders(entry, key, json).first().copied()
    }

    /// All such extractions, newest first. Their content may differ: from an older edition of the
    /// session, or another file with the same ledger. If none matches byte for byte, our spelling
    /// of the JSON counts, because another program may have rewritten the row.
    pub fn find_placeholders(&self, entry: &str, key: &str, json: &[u8]) -> Vec<&Shared<Extract>> {
        let of_key = || {
            let extracts = self.newest_first(entry).filter_map(Record::extract);
            extracts.filter(|extract| *extract.key == *key && extract.placeholder.is_some())
        };
        let fits = |json: &[u8]| {
            let put = Digest::of(json);
            of_key().filter(|extract| extract.placeholder == Some(put)).collect::<Vec<_>>()
        };
        if of_key().next().is_none() {
            return Vec::new();
        }
        let fitting = fits(json);
        if !fitting.is_empty() {
            return fitting;
        }
        spelling::our_spelling(json).map_or(fitting, |ours| fits(&ours))
    }

    /// The entries and keys of all extractions from a row, oldest first.
    pub fn values_of_row(&self, row: &str) -> Vec<(&Word, &Word)> {
        let moved = self.moved.get(row).into_iter().flatten().copied();
        let own = self.places(row);
        let mut all: Vec<u32> = moved.chain(own).collect();
        all.sort_unstable();
        all.dedup();
        let mut found = Vec::new();
        for extract in all.iter().filter_map(|at| self.at(*at)?.extract()) {
            let value = (&extract.entry, &extract.key);
            if extract.row() == row && !found.contains(&value) {
                found.push(value);
            }
        }
        found
    }

    /// The last extraction of each value of an entry, sorted by key. Only [`Ledger::placeholder`]
    /// says whether its placeholder still is in the session.
    pub fn last_extracts(&self, entry: &str) -> Vec<&Shared<Extract>> {
        let mut last: Vec<&Shared<Extract>> = Vec::new();
        for extract in self.newest_first(entry).filter_map(Record::extract) {
            if last.iter().all(|known| known.key != extract.key) {
                last.push(extract);
            }
        }
        last.sort_by(|a, b| a.key.cmp(&b.key));
        last
    }

    /// When an entry was last restored.
    pub fn last_restored(&self, entry: &str) -> Option<Time> {
        self.newest_first(entry).find_map(|record| match record {
            Record::Restore { at, .. } => Some(*at),
            Record::Extract(_) | Record::Set(_) => None,
        })
    }

    /// The extractable flag that was last set for an entry, unless its row has the flag itself.
    /// Null withdraws what the row says.
    pub fn extractable_flag(&self, entry: &str) -> Option<&Value> {
        let last = self.newest_first(entry).find_map(|record| match record {
            Record::Set(set) => Some(set),
            Record::Extract(_) | Record::Restore { .. } => None,
        });
        last.filter(|set| !set.in_row).map(|set| &set.value)
    }

    fn at(&self, place: u32) -> Option<&Record> {
        self.records.get(usize::try_from(place).ok()?)
    }

    /// Indexes of an entry's records, newest first.
    fn places(&self, entry: &str) -> impl Iterator<Item = u32> {
        let before = |at: &u32| self.before.get(usize::try_from(*at).ok()?).copied();
        let last = self.last.get(entry).copied();
        std::iter::successors(last, move |at| before(at).filter(|at| *at != FIRST))
    }

    fn newest_first(&self, entry: &str) -> impl Iterator<Item = &Record> {
        self.places(entry).filter_map(|at| self.at(at))
    }
}
