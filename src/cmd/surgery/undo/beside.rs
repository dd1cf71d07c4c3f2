//! What lies beside a session that is undone: what the client keeps there of it, and strangers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// Folders beside a session in which the client keeps what belongs to it.
const KEPT: [&str; 2] = ["subagents", "tool-results"];

/// Files in these folders of the client's, below `folder`.
///
/// # Errors
/// A folder that can't be read.
pub fn kept(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for kept in KEPT {
        found.extend(files(&folder.join(kept))?);
    }
    Ok(found)
}

/// What else lies in `folder`, which is called as the session: an `--out` may lie beside anything.
/// `ours` are the session and all that was written with it.
///
/// # Errors
/// A folder that can't be read, with something of ours in it.
pub fn strangers(ours: &[&Path], folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if absent(&e) => return Ok(Vec::new()),
        // Nothing of ours was put into one that nobody can list.
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

/// Whether the system says that there is no such folder.
fn absent(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Removes the folders below `folder` that what was removed lay in, where nothing else does.
pub fn emptied(removed: &[&str], folder: &Path) {
    for path in removed {
        for above in Path::new(path).ancestors().skip(1).take_while(|at| at.starts_with(folder)) {
            // One in which something lies stays.
            let _ = fs::remove_dir(above);
        }
    }
}

/// All files below a folder; none where it isn't there.
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

/// Removes folders that hold nothing but such folders.
///
/// # Errors
/// What the system says.
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
