//! Files beside a removed session: the client's, and foreign ones.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// Folders beside a session that belong to the client.
const KEPT: [&str; 2] = ["subagents", "tool-results"];

/// The files in the client's folders below `folder`.
///
/// # Errors
/// A folder that cannot be read.
pub fn kept(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for kept in KEPT {
        found.extend(files(&folder.join(kept))?);
    }
    Ok(found)
}

/// Other files in `folder`, which has the session's name: with `--out` it may be anywhere. `ours`
/// are the session's file and its companions.
///
/// # Errors
/// An unreadable folder that contains files of ours.
pub fn foreign_files(ours: &[&Path], folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if absent(&e) => return Ok(Vec::new()),
        // We put nothing into a folder that nobody can list.
        Err(_) if ours.len() == 1 => return Ok(vec![folder.to_path_buf()]),
        Err(e) => return Err(e).with_context(|| format!("could not read {}", folder.display())),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let clients = KEPT.iter().any(|kept| path.ends_with(kept));
        if !clients && !ours.iter().any(|our| our.starts_with(&path)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Whether the folder does not exist.
fn absent(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Removes the folders of removed files below `folder`, if they are empty.
pub fn remove_emptied(removed: &[&str], folder: &Path) {
    for path in removed {
        for above in Path::new(path).ancestors().skip(1).take_while(|at| at.starts_with(folder)) {
            // A folder that is not empty stays.
            let _ = fs::remove_dir(above);
        }
    }
}

/// All files below a folder; none if it does not exist.
fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if absent(&e) => return Ok(all),
        Err(e) => return Err(e).with_context(|| format!("could not read {}", folder.display())),
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            all.extend(files(&entry.path())?);
        } else {
            all.push(entry.path());
        }
    }
    Ok(all)
}

/// Removes folders that contain nothing but empty folders.
///
/// # Errors
/// A folder that cannot be removed.
pub fn empty_folders(folder: &Path) -> anyhow::Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten().filter(|e| e.file_type().is_ok_and(|t| t.is_dir())) {
        empty_folders(&entry.path())?;
    }
    match fs::remove_dir(folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            Err(e).with_context(|| format!("could not remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}
