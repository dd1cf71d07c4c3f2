//! Combines all ledgers: which objects sessions need, and when each was last used.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::{Ask, GiveUp, SessionNeeds};
use crate::blocks::Root;
use crate::extracted::{Extracted, Ledger, Object, Record, file, find_ledgers};
use base::clock::Time;

/// A session's ledger, as the sweep sees it.
pub(super) struct Of {
    pub extracted: Extracted,
    /// The objects it names.
    pub objects: BTreeSet<String>,
    /// Whether its session files are gone or it is given up, and no record can still matter.
    pub gone: bool,
    /// Whether it is given up by name: other sessions may still need its objects.
    pub named: bool,
    /// When it was last written.
    pub last: Option<Time>,
}

/// What sessions need.
#[derive(Default)]
pub(super) struct Needs {
    pub objects: BTreeSet<String>,
    /// When each object was last extracted or restored, according to the ledgers.
    pub used: BTreeMap<String, Time>,
    pub ledgers: Vec<Of>,
    /// Whether everything stays.
    pub everything: bool,
    pub unread: BTreeSet<PathBuf>,
}

impl Needs {
    pub(super) fn of(store: &Root, ask: Ask, give_up: GiveUp) -> Self {
        let mut needs = Self::default();
        let all = find_ledgers(store);
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
        // The object of each value, so that a restore counts as a use of it.
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
        // Extractable flags that a user set may matter wherever the session is now.
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
            match if named { SessionNeeds::Gone } else { ask(file, ledger) } {
                SessionNeeds::Gone if named || matches!(give_up, GiveUp::Missing) => {}
                SessionNeeds::Gone => {
                    self.objects.extend(objects.iter().map(ToString::to_string));
                }
                SessionNeeds::Needs(needed) => {
                    of.gone = false;
                    self.objects.extend(needed);
                }
                SessionNeeds::Unknown => {
                    of.gone = false;
                    self.unread.insert(file.to_owned());
                    self.objects.extend(objects.iter().map(ToString::to_string));
                }
            }
        }
        self.ledgers.push(of);
    }
}

/// Removes a ledger. Writers hold the store's lock, which a sweep holds exclusively.
pub(super) fn forget(folder: &Path) -> io::Result<()> {
    for name in [file::NAME, ".lock"] {
        base::atomic::remove(&folder.join(name))?;
    }
    // Other files in the folder are not ours.
    match std::fs::remove_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        other => other,
    }
}
