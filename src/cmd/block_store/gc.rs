//! `brain-guard store gc`: removes what no index and no export refers to, whatever its age.

use base::shown::size;
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::cmd::import::{self, count};
use base::lock;
use base::paths::is_safe_name;
use store::blocks::{self, Folder, Root};
use store::index::Index;

/// What was removed of the store, or would be.
#[derive(Debug)]
pub struct Removed {
    things: Vec<Thing>,
    dry_run: bool,
}

#[derive(Debug, Serialize)]
struct Thing {
    path: PathBuf,
    bytes: u64,
    why: &'static str,
}

impl Removed {
    /// Removes it, or only lists it in a dry run.
    pub fn from(root: &Root, dry_run: bool) -> anyhow::Result<Self> {
        let index = Index::new(root.clone());
        let referred: BTreeSet<(String, String)> = index
            .exports()?
            .into_iter()
            .filter(|export| export.undone.is_none())
            .flat_map(|export| export.detail.sources)
            .collect();
        let mut things = Vec::new();
        for folder in root.all()? {
            // A session that is being written is left for the next run.
            let Ok(_held) = import::hold(&folder, Duration::ZERO) else { continue };
            if !referred.contains(&(folder.agent.clone(), folder.session.clone())) {
                remove_editions(&folder, dry_run, &mut things)?;
            }
        }
        remove_empty_folders(&root.sessions(), dry_run, &mut things)?;
        Ok(Self { things, dry_run })
    }
}

impl Serialize for Removed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.things.serialize(serializer)
    }
}

impl fmt::Display for Removed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Thing { path, bytes, why } in &self.things {
            writeln!(f, "{} ({}): {why}", path.display(), size(*bytes))?;
        }
        let bytes: u64 = self.things.iter().map(|thing| thing.bytes).sum();
        let done = if self.dry_run { "would be removed" } else { "removed" };
        write!(f, "{}, {}, {done}", count(self.things.len(), "thing"), size(bytes))
    }
}

fn remove_editions(folder: &Folder, dry_run: bool, removed: &mut Vec<Thing>) -> io::Result<()> {
    for edition in blocks::editions(folder)? {
        let bytes = edition.path.metadata().map_or(0, |meta| meta.len());
        if !dry_run {
            edition.remove()?;
        }
        let why = "the session's file was written anew since";
        removed.push(Thing { path: edition.path, bytes, why });
    }
    Ok(())
}

/// Removes folders that contain nothing but a lock.
fn remove_empty_folders(
    sessions: &Path,
    dry_run: bool,
    removed: &mut Vec<Thing>,
) -> io::Result<()> {
    for agent in folders(sessions)? {
        for folder in folders(&agent)? {
            let lock = folder.join(".lock");
            let only_lock = |path: &PathBuf| *path == lock;
            let entries = fs::read_dir(&folder)?.map(|entry| entry.map(|entry| entry.path()));
            if !entries.collect::<io::Result<Vec<_>>>()?.iter().all(only_lock) {
                continue;
            }
            if !dry_run {
                let Ok(_held) = lock::acquire(&lock, Duration::ZERO) else { continue };
                fs::remove_file(&lock)?;
                match fs::remove_dir(&folder) {
                    // An import has written to it in the meantime.
                    Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty => continue,
                    other => other?,
                }
            }
            let why = "nothing was imported into it";
            removed.push(Thing { path: folder, bytes: 0, why });
        }
    }
    Ok(())
}

fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let ours = |entry: &fs::DirEntry| {
        entry.file_name().to_str().is_some_and(is_safe_name)
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    let mut found: Vec<PathBuf> =
        entries.flatten().filter(ours).map(|entry| entry.path()).collect();
    found.sort();
    Ok(found)
}

/// Bytes of the files in a folder.
pub fn size_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum()
}
