//! The ledger of a session: what was extracted and restored, a line of JSON each, append-only.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde_json::Value;

use super::object::Digest;
use super::record::{Extract, Record, Shared, Word};
use super::spelling;
use base::clock::Time;

/// None before it.
const FIRST: u32 = u32::MAX;

/// What a ledger says of each value.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// In their order.
    pub records: Vec<Record>,
    /// Where in `records` the last one of an entry is.
    last: HashMap<Word, u32>,
    /// For each record, where the one before it of its entry is.
    before: Vec<u32>,
    /// Where in `records` those are whose rows have other ids than their entries.
    moved: HashMap<Word, Vec<u32>>,
}

impl Ledger {
    /// One that says this.
    pub fn of(records: Vec<Record>) -> Self {
        let mut ledger = Self::default();
        for record in records {
            ledger.push(record);
        }
        ledger
    }

    /// Says this besides.
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

    /// The last extraction that put this JSON at (entry, key), where one did: then it is a
    /// placeholder.
    pub fn placeholder(&self, entry: &str, key: &str, json: &[u8]) -> Option<&Shared<Extract>> {
        self.fitting(entry, key, json).first().copied()
    }

    /// All of them, newest first. They may be of different content: of a session's older edition,
    /// or of another file that has its ledger here. Where it was put in this place and another
    /// program wrote the row anew, what the JSON says counts, not how it is spelt.
    pub fn fitting(&self, entry: &str, key: &str, json: &[u8]) -> Vec<&Shared<Extract>> {
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
        spelling::ours(json).map_or(fitting, |ours| fits(&ours))
    }

    /// The entries and keys of which something was ever extracted in a row, the oldest first.
    pub fn of_row(&self, row: &str) -> Vec<(&Word, &Word)> {
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

    /// The last extraction of each value of an entry, in the order of the keys. Whether its
    /// placeholder still is in the session only [`Ledger::placeholder`] says.
    pub fn of_entry(&self, entry: &str) -> Vec<&Shared<Extract>> {
        let mut last: Vec<&Shared<Extract>> = Vec::new();
        for extract in self.newest_first(entry).filter_map(Record::extract) {
            if last.iter().all(|known| known.key != extract.key) {
                last.push(extract);
            }
        }
        last.sort_by(|a, b| a.key.cmp(&b.key));
        last
    }

    /// When an entry was restored last.
    pub fn restored(&self, entry: &str) -> Option<Time> {
        self.newest_first(entry).find_map(|record| match record {
            Record::Restore { at, .. } => Some(*at),
            Record::Extract(_) | Record::Set(_) => None,
        })
    }

    /// What was said last of whether an entry may be extracted, where its row doesn't say it
    /// itself: null takes back what that says.
    pub fn said(&self, entry: &str) -> Option<&Value> {
        let last = self.newest_first(entry).find_map(|record| match record {
            Record::Set(set) => Some(set),
            Record::Extract(_) | Record::Restore { .. } => None,
        });
        last.filter(|set| !set.in_row).map(|set| &set.value)
    }

    fn at(&self, place: u32) -> Option<&Record> {
        self.records.get(usize::try_from(place).ok()?)
    }

    /// Where the records of an entry are, newest first.
    fn places(&self, entry: &str) -> impl Iterator<Item = u32> {
        let before = |at: &u32| self.before.get(usize::try_from(*at).ok()?).copied();
        let last = self.last.get(entry).copied();
        std::iter::successors(last, move |at| before(at).filter(|at| *at != FIRST))
    }

    fn newest_first(&self, entry: &str) -> impl Iterator<Item = &Record> {
        self.places(entry).filter_map(|at| self.at(at))
    }
}
