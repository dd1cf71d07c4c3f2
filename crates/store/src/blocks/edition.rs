//! Editions: the blocks that a session had before its file was rewritten.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;

use super::file::SCHEMA;
use super::root::Folder;
use crate::database::Db;
use base::atomic;

/// An earlier edition of a session's blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edition {
    /// Its number, from 1.
    pub number: u64,
    /// The file that holds its blocks.
    pub path: PathBuf,
}

impl Edition {
    fn of(folder: &Folder, number: u64) -> Self {
        Self { number, path: folder.path.join(format!("blocks.{number}.db")) }
    }

    /// Removes its blocks.
    pub fn remove(&self) -> io::Result<()> {
        atomic::remove(&self.path)
    }
}

/// All editions of a session, in order.
pub fn editions(folder: &Folder) -> io::Result<Vec<Edition>> {
    let mut numbers = BTreeSet::new();
    for entry in fs::read_dir(&folder.path)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("blocks."));
        numbers.extend(number.and_then(|rest| rest.strip_suffix(".db")?.parse::<u64>().ok()));
    }
    Ok(numbers.into_iter().map(|number| Edition::of(folder, number)).collect())
}

/// Renames a session's blocks to the next edition. The caller holds the session's lock.
pub fn set_aside(folder: &Folder) -> io::Result<Edition> {
    let number = editions(folder)?.last().map_or(1, |last| last.number + 1);
    let (blocks, edition) = (folder.blocks(), Edition::of(folder, number));
    if blocks.exists() {
        // Rolls back what a killed process left: SQLite finds its journal by the file's name. A
        // damaged file only fails here.
        let _ = Db::make(&blocks, SCHEMA);
        fs::rename(&blocks, &edition.path)?;
    }
    Ok(edition)
}
