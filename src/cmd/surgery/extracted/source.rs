//! The records of the source sessions, and the place of the new session's ledger.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::cmd::extract::redact::Asked;
use crate::cmd::surgery::source::Store;
use extract::edit;
use sessions::round::Session;
use store::extracted::{Extract, Extracted, Ledger, Record, Set, Shared, Word};
use surgery::ids;

/// A source session.
pub(super) struct Source {
    ids: ids::Source,
    ledger: Ledger,
    /// Entries with restore calls.
    asked: Asked,
    /// The records, by the row with the placeholder.
    of: HashMap<Word, Vec<Shared<Extract>>>,
}

impl Source {
    /// For a source of the session `new`.
    ///
    /// # Errors
    /// A ledger that cannot be read.
    pub fn of(store: &Store, new: &str, session: &Session) -> anyhow::Result<Self> {
        let ledger = store.extracted(session)?;
        let mut of: HashMap<Word, Vec<Shared<Extract>>> = HashMap::new();
        for extract in ledger.records.iter().filter_map(Record::extract) {
            let row = extract.row.as_ref().unwrap_or(&extract.entry);
            of.entry(row.clone()).or_default().push(extract.clone());
        }
        let ids = ids::Source::new(new, &session.id);
        let asked = Asked::noted(&ledger);
        Ok(Self { ids, ledger, asked, of })
    }

    /// The id of the entry that a restore call requested.
    pub fn asked(&self, asked: &str) -> Option<String> {
        self.asked.means(asked).map(str::to_owned)
    }

    /// The ledger's flags (`_extractable`), with the new session's entry ids.
    pub fn said(&self) -> Vec<Record> {
        let mut last: BTreeMap<&Word, &Set> = BTreeMap::new();
        for record in &self.ledger.records {
            if let Record::Set(set) = record
                && self.ledger.extractable_flag(&set.entry) == Some(&set.value)
            {
                last.insert(&set.entry, set);
            }
        }
        let fresh = |set: &Set| {
            let entry = self.fresh(&set.entry).into();
            Record::Set(Box::new(Set { entry, ..set.clone() }))
        };
        last.into_values().map(fresh).collect()
    }

    /// The entries of which something is extracted.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.ledger.entries()
    }

    /// Whether it has no records.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Whether the row has records.
    pub fn has(&self, row: &str) -> bool {
        self.of.contains_key(row)
    }

    /// The records whose placeholders are still in the row.
    pub fn standing(&self, row: &str, line: &[u8]) -> Vec<Shared<Extract>> {
        let extracts = self.of.get(row).into_iter().flatten();
        extracts.filter(|extract| stands(&self.ledger, extract, line)).cloned().collect()
    }

    /// The records of values without a placeholder.
    pub fn gone(&self) -> impl Iterator<Item = Shared<Extract>> {
        let extracts = self.ledger.records.iter().filter_map(Record::extract);
        extracts.filter(|extract| extract.placeholder.is_none()).cloned()
    }

    /// The new id of a row.
    pub fn fresh(&self, old: &str) -> String {
        self.ids.uuid(old).as_str().to_owned()
    }
}

/// The places of the new session's ledger: by its id, and by its file name if that differs. The
/// client continues such a session in a file named by the id.
pub(super) fn places(store: &Store, id: &str, path: &Path) -> Vec<(Extracted, PathBuf)> {
    let of = |session: &str| Extracted::for_session(&store.root, "claude", session);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut all = vec![(of(&stem), path.to_owned())];
    if stem != id {
        all.push((of(id), path.with_file_name(format!("{id}.jsonl"))));
    }
    all
}

/// Whether a record's placeholder is in its row.
fn stands(ledger: &Ledger, extract: &Shared<Extract>, line: &[u8]) -> bool {
    let json = edit::locate(line, &extract.key).map(|at| at.slice(line));
    let known = json.and_then(|json| ledger.placeholder(&extract.entry, &extract.key, json));
    known == Some(extract)
}
