//! Finds a session's files: the one in its ledger, and files of the same name below the clients'
//! folders, in case the project was moved or copied.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::cmd::extract::source;
use crate::cmd::import;
use store::blocks::Root;
use store::extracted::{Ledger, SessionNeeds};

/// Session files by name.
#[derive(Debug)]
pub struct Files<'r> {
    root: &'r Root,
    homes: Vec<PathBuf>,
    by_name: Option<BTreeMap<OsString, Vec<PathBuf>>>,
}

impl<'r> Files<'r> {
    /// The files are only listed when they are needed.
    pub fn new(root: &'r Root, homes: Vec<PathBuf>) -> Self {
        Self { root, homes, by_name: None }
    }

    /// The objects that a session needs, given the `file` in its ledger.
    pub fn held(&mut self, file: &Path, ledger: &Ledger) -> SessionNeeds {
        let mut needed = None;
        for file in std::iter::once(file.to_path_buf()).chain(self.of_the_same_name(file)) {
            match source::held(self.root, &file, ledger) {
                SessionNeeds::Needs(objects) => needed.get_or_insert_with(Vec::new).extend(objects),
                SessionNeeds::Gone => {}
                SessionNeeds::Unknown => return SessionNeeds::Unknown,
            }
        }
        needed.map_or(SessionNeeds::Gone, SessionNeeds::Needs)
    }

    fn of_the_same_name(&mut self, file: &Path) -> Vec<PathBuf> {
        let by_name = self.by_name.get_or_insert_with(|| {
            let mut by_name: BTreeMap<OsString, Vec<PathBuf>> = BTreeMap::new();
            for home in &self.homes {
                for path in import::below(home, &mut |_, _| {}) {
                    let name = path.file_name().unwrap_or_default().to_owned();
                    by_name.entry(name).or_default().push(path);
                }
            }
            by_name
        });
        file.file_name().and_then(|name| by_name.get(name)).cloned().unwrap_or_default()
    }
}
