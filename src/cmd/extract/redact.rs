//! Hides restore calls from the context (seed 001, "Result in Session File"). A call is redacted
//! only when an edit writes the session anyway. If a running session got the content as output, the
//! ledger records the restore, and the next edit redacts the call.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use extract::placeholder::Names;
use extract::redact;
use sessions::settings::ExtractSettings;
use store::extracted::{Ledger, Record, Word};

/// Entries whose restore calls are redacted.
#[derive(Debug, Default)]
pub struct Asked {
    /// Restored entries: calls for them are redacted.
    restored: BTreeSet<Word>,
    /// All extracted entries, to see whether an id prefix is ambiguous.
    extracted: BTreeSet<Word>,
    names: Names,
    /// By redacted row: the entries, and how many bytes shorter the row is.
    done: RefCell<BTreeMap<u64, (BTreeSet<String>, i64)>>,
}

impl Asked {
    /// The restored entries of a ledger; none if the settings keep the calls.
    pub fn of(ledger: &Ledger, settings: &ExtractSettings) -> Self {
        if settings.keep_purge_control_calls { Self::default() } else { Self::noted(ledger) }
    }

    /// The restored entries of a ledger, whatever the settings say.
    pub fn noted(ledger: &Ledger) -> Self {
        let mut asked = Self { names: ledger.entries().collect(), ..Self::default() };
        for record in &ledger.records {
            match record {
                Record::Extract(extract) => asked.extracted.insert(extract.entry.clone()),
                Record::Restore { entry, .. } => asked.restored.insert(entry.clone()),
                Record::Set(_) => false,
            };
        }
        asked
    }

    /// Adds these entries.
    #[must_use]
    pub fn and<'e>(mut self, entries: impl Iterator<Item = &'e str>) -> Self {
        self.restored.extend(entries.map(Word::from));
        self
    }

    /// Whether nothing is redacted.
    pub fn is_empty(&self) -> bool {
        self.restored.is_empty()
    }

    /// The row with its restore calls redacted; `None` if it has none.
    pub fn row(&self, row: u64, line: &[u8]) -> Option<Vec<u8>> {
        if self.is_empty() {
            return None;
        }
        let meant = RefCell::new(BTreeSet::new());
        let left = redact::row(line, &|asked| {
            let entry = self.means(asked)?;
            meant.borrow_mut().insert(entry.to_owned());
            Some(entry.to_owned())
        })?;
        let shorter = line.len() as i64 - left.len() as i64;
        self.done.borrow_mut().insert(row, (meant.into_inner(), shorter));
        Some(left)
    }

    /// Finds the restored entry with this id or unique id prefix.
    pub fn means(&self, asked: &str) -> Option<&str> {
        let owner = || self.restored.get(self.names.owner(asked)?);
        if let Some(entry) = self.restored.get(asked).or_else(owner) {
            return Some(entry);
        }
        let from = (Bound::Included(asked), Bound::Unbounded);
        let mut all =
            self.extracted.range::<str, _>(from).take_while(|entry| entry.starts_with(asked));
        match (all.next(), all.next()) {
            (Some(entry), None) if !asked.is_empty() => {
                self.restored.get(entry).map(|entry| &**entry)
            }
            _ => None,
        }
    }

    /// Whether a call for this entry was redacted.
    pub fn redacted(&self, entry: &str) -> bool {
        self.done.borrow().values().any(|(entries, _)| entries.contains(entry))
    }

    /// The number of redacted rows, and how many bytes shorter they are.
    pub fn done(&self) -> (u64, i64) {
        let done = self.done.borrow();
        (done.len() as u64, done.values().map(|(_, shorter)| shorter).sum())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use base::clock::Time;
    use store::extracted::Extract;

    fn ledger(extracted: &[&str], restored: &[&str]) -> Ledger {
        let at = Time::MIN_UTC;
        let extract = |entry: &&str| {
            Record::from(Extract {
                entry: (*entry).into(),
                key: "output".into(),
                object: "".into(),
                bytes: 1,
                placeholder: None,
                tool: None,
                trigger: "tool_result".into(),
                at,
                file: Path::new("/s.jsonl").into(),
                row: None,
            })
        };
        let restore = |entry: &&str| Record::Restore {
            entry: (*entry).into(),
            keys: vec!["output".into()],
            at,
            redacted: false,
        };
        Ledger::of(extracted.iter().map(extract).chain(restored.iter().map(restore)).collect())
    }

    #[test]
    fn an_entry_is_meant_by_how_its_id_begins_where_that_is_one() {
        let settings = ExtractSettings::default();
        let asked = Asked::of(&ledger(&["a1", "a2", "b1", "c1"], &["a1", "b1"]), &settings);
        for (word, entry) in [
            ("a1", Some("a1")),
            ("b", Some("b1")),
            ("a", None),
            ("a2", None),
            ("c", None),
            ("", None),
            ("b12", None),
        ] {
            assert_eq!(asked.means(word), entry, "{word}");
        }
    }

    #[test]
    fn what_was_redacted_is_told_by_row_and_only_once() {
        let line = br#"{"type":"tool_call","name":"restore","arguments":{"entry_id":"b","keys":["output"]}}"#;
        let ledger = ledger(&["b1"], &["b1"]);
        let asked = Asked::of(&ledger, &ExtractSettings::default());
        let left = asked.row(3, line).unwrap();
        assert!(asked.redacted("b1") && !asked.redacted("b"));
        assert_eq!(asked.done(), (1, line.len() as i64 - left.len() as i64));
        assert_eq!(asked.row(3, &left), None);
        let keep = ExtractSettings { keep_purge_control_calls: true, ..ExtractSettings::default() };
        assert!(Asked::of(&ledger, &keep).row(3, line).is_none());
    }
}
