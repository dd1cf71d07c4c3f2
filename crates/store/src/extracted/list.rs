//! Lists the sessions with a ledger, and finds rows in other sessions' ledgers. Only "not found"
//! counts as absent: an unreadable ledger is one.

use crate::extracted::file::absent;
use std::collections::HashSet;
use std::fs;
use std::io::{self};
use std::path::{Path, PathBuf};

use super::{Extracted, Record, file, named, place};
use crate::blocks::Root;
use base::paths::is_safe_name;

/// All ledgers.
#[derive(Debug, Default)]
pub struct All {
    /// Sessions with a ledger, sorted by agent and id. Reading one may still fail.
    pub found: Vec<Extracted>,
    /// Paths that could not be read, and may hold other ledgers.
    pub unread: Vec<(PathBuf, io::Error)>,
}

/// Finds all sessions with a ledger.
pub fn find_ledgers(root: &Root) -> All {
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
    /// The folders with valid names in a folder, sorted; empty if it does not exist.
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
            if !path.file_name().and_then(|name| name.to_str()).is_some_and(is_safe_name) {
                continue;
            }
            match fs::metadata(&path) {
                Ok(meta) if meta.is_dir() => found.push(path),
                Ok(_) => {}
                // It may have been removed since. A dangling symlink still exists.
                Err(e) if absent(&e) && fs::symlink_metadata(&path).is_err_and(|e| absent(&e)) => {}
                Err(e) => self.unread.push((path, e)),
            }
        }
        found.sort();
        found
    }
}

/// Records of some rows in the ledgers of other sessions.
#[derive(Debug, Default)]
pub struct Kin {
    /// Extractions of these rows.
    pub records: Vec<Record>,
    /// Ledgers that could not be read, so that records may be missing. Each error has a path.
    pub unread: Vec<io::Error>,
}

impl Extracted {
    /// Finds records of rows with these ids in the ledgers of other sessions. Rows that a client
    /// copied into its own session keep their ids.
    pub fn related_records(&self, rows: &HashSet<String>) -> Kin {
        let All { found, unread } = below(&self.root);
        let mut kin = Kin::default();
        kin.unread.extend(unread.iter().map(|(path, why)| named(path, why)));
        for other in found.into_iter().filter(|other| other.folder != self.folder) {
            kin.unread.extend(file::find_extracts(&other.folder, rows, &mut kin.records).err());
        }
        kin
    }
}
