//! Editions of a session: what was inscribed before its file was written anew.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use super::root::Folder;

/// Blocks that were set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edition {
    /// Its number, from 1: the oldest.
    pub number: u64,
    /// `blocks.<number>`.
    pub path: PathBuf,
}

/// The editions that were set aside, oldest first.
///
/// # Errors
/// What the system says.
pub fn editions(folder: &Folder) -> io::Result<Vec<Edition>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder.path)? {
        let entry = entry?;
        let name = entry.file_name();
        let number =
            name.to_str().and_then(|name| name.strip_prefix("blocks.")?.parse::<u64>().ok());
        found.extend(number.map(|number| Edition { number, path: entry.path() }));
    }
    found.sort_by_key(|edition| edition.number);
    Ok(found)
}

/// Sets the blocks aside, so that new ones can be written; returns the edition they are now.
///
/// # Errors
/// What the system says.
pub fn set_aside(folder: &Folder) -> io::Result<Edition> {
    let number = editions(folder)?.last().map_or(1, |last| last.number + 1);
    let path = folder.path.join(format!("blocks.{number}"));
    fs::rename(folder.blocks(), &path)?;
    Ok(Edition { number, path })
}

/// What tells the blocks that a session has from those of another edition: where their folder
/// lies on the disk. `None` where there are none.
pub fn identity(folder: &Folder) -> Option<u64> {
    fs::metadata(folder.blocks()).ok().map(|there| there.ino())
}
