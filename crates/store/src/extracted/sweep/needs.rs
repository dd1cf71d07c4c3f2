//! What all ledgers together say: which objects sessions need, and when each was used last.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::{Ask, GiveUp, Held};
use crate::blocks::Root;
use crate::extracted::{Extracted, Ledger, Object, Record, all, file};
use base::clock::Time;

/// A ledger.
pub(super) struct Of {
    pub extracted: Extracted,
    /// What it names.
    pub objects: BTreeSet<String>,
    /// Its session files are gone, or it is given up; nothing else in it could still count.
    pub gone: bool,
    /// It is given up by name: other sessions may still need what it names.
    pub named: bool,
    /// When it was written last.
    pub last: Option<Time>,
}

/// What sessions need.
#[derive(Default)]
pub(super) struct Needs {
    pub objects: BTreeSet<String>,
    /// When each object was extracted or restored last, by the ledgers.
    pub used: BTreeMap<String, Time>,
    pub ledgers: Vec<Of>,
    /// Nothing may go.
    pub everything: bool,
    pub unread: BTreeSet<PathBuf>,
}

impl Needs {
    pub(super) fn of(store: &Root, ask: Ask, give_up: GiveUp) -> Self {
        let mut needs = Self::default();
        let all = all(store);
        needs.everything = !all.unread.is_empty();
        needs.unread.extend(all.unread.into_iter().map(|(path, _)| path));
        for extracted in all.found {
            if let Ok(ledger) = extracted.ledger() {
                needs.ledger(extracted, &ledger, ask, give_up);
            } else {
                needs.everything = true;
                needs.unread.insert(extracted.folder.join(file::NAME));
            }
        }
        needs
    }

    fn ledger(&mut self, extracted: Extracted, ledger: &Ledger, ask: Ask, give_up: GiveUp) {
        // Where an object came from, so that a restore counts for what it brought back.
        let mut last: BTreeMap<(&str, &str), &Object> = BTreeMap::new();
        let mut files: BTreeMap<&Path, BTreeSet<&Object>> = BTreeMap::new();
        for record in &ledger.records {
            if let Record::Extract(extract) = record {
                let (object, used) = (&extract.object, extract.at);
                last.insert((&extract.entry, &extract.key), object);
                files.entry(&extract.file).or_default().insert(object);
                let known = self.used.entry(object.to_string()).or_insert(used);
                *known = used.max(*known);
            }
            if let Record::Restore { entry, keys, at, .. } = record {
                for key in keys {
                    let object = last.get(&(&**entry, &**key)).map(ToString::to_string);
                    if let Some(used) = object.and_then(|object| self.used.get_mut(&object)) {
                        *used = (*at).max(*used);
                    }
                }
            }
        }
        // What a user said of entries may be wanted wherever the session is now.
        let said = |r: &Record| matches!(r, Record::Set(_));
        let plain = !ledger.records.iter().any(said);
        let named = matches!(give_up, GiveUp::These(names) if names.contains(&extracted.name()));
        let mut of = Of {
            extracted,
            objects: BTreeSet::new(),
            gone: named || plain && !files.is_empty(),
            named,
            last: ledger.records.iter().map(Record::at).max(),
        };
        for (file, objects) in files {
            of.objects.extend(objects.iter().map(ToString::to_string));
            match if named { Held::Gone } else { ask(file, ledger) } {
                Held::Gone if named || matches!(give_up, GiveUp::Missing) => {}
                Held::Gone => {
                    self.objects.extend(objects.iter().map(ToString::to_string));
                }
                Held::Needs(needed) => {
                    of.gone = false;
                    self.objects.extend(needed);
                }
                Held::Unknown => {
                    of.gone = false;
                    self.unread.insert(file.to_owned());
                    self.objects.extend(objects.iter().map(ToString::to_string));
                }
            }
        }
        self.ledgers.push(of);
    }
}

/// Removes a ledger. Whoever adds to one holds the store, which a sweep has alone.
pub(super) fn forget(folder: &Path) -> io::Result<()> {
    for name in [file::NAME, ".lock"] {
        base::atomic::remove(&folder.join(name))?;
    }
    // What else lies there is not ours.
    match std::fs::remove_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        other => other,
    }
}
