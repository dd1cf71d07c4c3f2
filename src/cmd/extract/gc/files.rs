//! Where a session is: in the file that its ledger names, and in those of the same name below the
//! clients' folders, where a moved or copied project keeps it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::cmd::extract::source;
use crate::cmd::inscribe;
use store::blocks::Root;
use store::extracted::{Held, Ledger};

/// Files of sessions, by their names.
#[derive(Debug)]
pub struct Files<'r> {
    root: &'r Root,
    homes: Vec<PathBuf>,
    by_name: Option<BTreeMap<OsString, Vec<PathBuf>>>,
}

impl<'r> Files<'r> {
    /// Nothing is read yet.
    pub fn new(root: &'r Root, homes: Vec<PathBuf>) -> Self {
        Self { root, homes, by_name: None }
    }

    /// What the session needs that a ledger knows in `file`.
    pub fn held(&mut self, file: &Path, ledger: &Ledger) -> Held {
        let mut needed = None;
        for file in std::iter::once(file.to_path_buf()).chain(self.of_the_same_name(file)) {
            match source::held(self.root, &file, ledger) {
                Held::Needs(objects) => needed.get_or_insert_with(Vec::new).extend(objects),
                Held::Gone => {}
                Held::Unknown => return Held::Unknown,
            }
        }
        needed.map_or(Held::Gone, Held::Needs)
    }

    fn of_the_same_name(&mut self, file: &Path) -> Vec<PathBuf> {
        let by_name = self.by_name.get_or_insert_with(|| {
            let mut by_name: BTreeMap<OsString, Vec<PathBuf>> = BTreeMap::new();
            for home in &self.homes {
                for path in inscribe::below(home, &mut |_, _| {}) {
                    let name = path.file_name().unwrap_or_default().to_owned();
                    by_name.entry(name).or_default().push(path);
                }
            }
            by_name
        });
        file.file_name().and_then(|name| by_name.get(name)).cloned().unwrap_or_default()
    }
}
