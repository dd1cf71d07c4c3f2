//! What was kept of a session before its file was written anew.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;

use super::file::SCHEMA;
use super::packs;
use super::root::Folder;
use crate::database::Db;
use base::atomic;

/// An edition that was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edition {
    /// Its number, from 1.
    pub number: u64,
    /// Its blocks.
    pub path: PathBuf,
}

impl Edition {
    fn of(folder: &Folder, number: u64) -> Self {
        Self { number, path: folder.path.join(format!("blocks.{number}.db")) }
    }

    /// Removes it.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&self) -> io::Result<()> {
        let packs = packs::of(&self.path);
        if packs.is_dir() {
            fs::remove_dir_all(packs)?;
        }
        atomic::remove(&self.path)
    }
}

/// The editions that were set aside, in order.
///
/// # Errors
/// What the system says.
pub fn editions(folder: &Folder) -> io::Result<Vec<Edition>> {
    let mut numbers = BTreeSet::new();
    for entry in fs::read_dir(&folder.path)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("blocks."));
        // A folder of packs has no ending.
        let number = number.map(|rest| rest.strip_suffix(".db").unwrap_or(rest).parse::<u64>());
        numbers.extend(number.and_then(Result::ok));
    }
    Ok(numbers.into_iter().map(|number| Edition::of(folder, number)).collect())
}

/// Sets the blocks of a session aside, as the next edition. Whoever does so holds its lock.
///
/// # Errors
/// What the system says.
pub fn set_aside(folder: &Folder) -> io::Result<Edition> {
    let number = editions(folder)?.last().map_or(1, |last| last.number + 1);
    let (blocks, edition) = (folder.blocks(), Edition::of(folder, number));
    if blocks.exists() {
        // What a killed process left beside it is undone first: it goes by the file's name. One
        // that is damaged can't be.
        let _ = Db::make(&blocks, SCHEMA);
        fs::rename(&blocks, &edition.path)?;
    }
    match fs::rename(packs::of(&blocks), packs::of(&edition.path)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(edition),
    }
}
