//! Which sessions have a ledger, and what the ledgers of other sessions say of a row. Only what
//! the system says is not there counts as absent: a ledger that can't be looked at is one.

use crate::extracted::file::absent;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self};
use std::path::{Path, PathBuf};

use super::{Extracted, Record, file, named, place};
use crate::blocks::Root;
use base::paths::safe_name;

/// The ledgers there are.
#[derive(Debug, Default)]
pub struct All {
    /// Sessions that have one, sorted by agent and id; it may turn out that it can't be read.
    pub found: Vec<Extracted>,
    /// What can't be looked at, and may hold others.
    pub unread: Vec<(PathBuf, io::Error)>,
}

/// All sessions that have a ledger.
pub fn all(root: &Root) -> All {
    below(&place(root))
}

fn below(root: &Path) -> All {
    let mut all = All::default();
    for agent in all.folders(&root.join("sessions")) {
        for folder in all.folders(&agent) {
            let ledger = folder.join(file::NAME);
            match fs::symlink_metadata(&ledger) {
                Ok(_) => all.found.push(Extracted::at(root.to_owned(), folder)),
                Err(e) if absent(&e) => {}
                Err(e) => all.unread.push((ledger, e)),
            }
        }
    }
    all
}

impl All {
    /// The folders in a folder that can be ours, sorted; none where there is no folder.
    fn folders(&mut self, folder: &Path) -> Vec<PathBuf> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(e) if absent(&e) => return Vec::new(),
            Err(e) => {
                self.unread.push((folder.to_path_buf(), e));
                return Vec::new();
            }
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = match entry {
                Ok(entry) => entry.path(),
                Err(e) => {
                    self.unread.push((folder.to_path_buf(), e));
                    continue;
                }
            };
            if !path.file_name().and_then(|name| name.to_str()).is_some_and(safe_name) {
                continue;
            }
            match fs::metadata(&path) {
                Ok(meta) if meta.is_dir() => found.push(path),
                Ok(_) => {}
                // It may have been taken away since; a link that leads nowhere still is there.
                Err(e) if absent(&e) && fs::symlink_metadata(&path).is_err_and(|e| absent(&e)) => {}
                Err(e) => self.unread.push((path, e)),
            }
        }
        found.sort();
        found
    }
}

/// What the ledgers of other sessions say of some rows.
#[derive(Debug, Default)]
pub struct Kin {
    /// Extractions of these rows.
    pub records: Vec<Record>,
    /// Why something may be missing: ledgers that can't be read, each with its path.
    pub unread: Vec<io::Error>,
    /// Of which of these rows it can't be told whether a record is of them, each with why.
    pub unsure: BTreeMap<String, String>,
}

impl Extracted {
    /// What the ledgers of other sessions say of rows with these ids: rows that a client copied
    /// into a session of its own keep their ids.
    pub fn kin(&self, rows: &HashSet<String>) -> Kin {
        let All { found, unread } = below(&self.root);
        let mut kin = Kin::default();
        kin.unread.extend(unread.iter().map(|(path, why)| named(path, why)));
        for other in found.into_iter().filter(|other| other.folder != self.folder) {
            kin.unread.extend(file::of_rows(&other.folder, rows, &mut kin.records).err());
        }
        kin
    }
}
