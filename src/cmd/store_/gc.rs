//! `brain-guard store gc`: takes out what no index and no export refers to, however old or new.

use base::shown::size;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use crate::cmd::inscribe::{self, count};
use crate::cmd::{Exit, out, out_json};
use base::lock;
use base::paths::safe_name;
use store::blocks::{self, Folder, Root, Writer};
use store::index::Index;

/// What is removed.
#[derive(Debug, Serialize)]
struct Removed {
    path: PathBuf,
    bytes: u64,
    why: &'static str,
}

/// Removes it, or says what would be.
pub fn run(root: &Root, dry_run: bool, json: bool) -> anyhow::Result<Exit> {
    let index = Index::new(root.clone());
    let referred: BTreeSet<(String, String)> = index
        .exports()?
        .into_iter()
        .filter(|export| export.undone.is_none())
        .flat_map(|export| export.detail.sources)
        .collect();
    let mut removed = Vec::new();
    for folder in root.all()? {
        // What is being written is looked at another time.
        let Ok(_held) = inscribe::hold(&folder, Duration::ZERO) else { continue };
        if !referred.contains(&(folder.agent.clone(), folder.session.clone())) {
            editions(&folder, dry_run, &mut removed)?;
        }
        torn(&folder, dry_run, &mut removed)?;
    }
    half_made(&root.sessions(), dry_run, &mut removed)?;
    if json {
        out_json(&removed)?;
        return Ok(Exit::Done);
    }
    for Removed { path, bytes, why } in &removed {
        out(format_args!("{} ({}): {why}", path.display(), size(*bytes)));
    }
    let bytes: u64 = removed.iter().map(|removed| removed.bytes).sum();
    let done = if dry_run { "would be removed" } else { "removed" };
    let things = count(removed.len(), "thing");
    out(format_args!("{things}, {}, {done}", size(bytes)));
    Ok(Exit::Done)
}

fn editions(folder: &Folder, dry_run: bool, removed: &mut Vec<Removed>) -> io::Result<()> {
    for edition in blocks::editions(folder)? {
        let bytes = size_of(&edition.path);
        if !dry_run {
            fs::remove_dir_all(&edition.path)?;
        }
        let why = "the session's file was written anew since";
        removed.push(Removed { path: edition.path, bytes, why });
    }
    Ok(())
}

/// Cuts off what was not written to its end.
fn torn(folder: &Folder, dry_run: bool, removed: &mut Vec<Removed>) -> io::Result<()> {
    let blocks = folder.blocks();
    // Rows don't reach over packs.
    let Some(last) = blocks::numbers(&blocks)?.pop() else { return Ok(()) };
    let end = match blocks::whole_rows(&blocks, blocks::position(last, 0), |_, _| Ok(())) {
        Ok(end) => end,
        // Damage is for `store check`.
        Err(e) if e.kind() == io::ErrorKind::InvalidData => return Ok(()),
        Err(e) => return Err(e),
    };
    let path = blocks::pack_path(&blocks, last);
    let bytes = fs::metadata(&path)?.len() - blocks::place(end).1;
    if bytes > 0 {
        if !dry_run {
            Writer::open(&blocks, end)?;
        }
        removed.push(Removed { path, bytes, why: "it was not written to its end" });
    }
    Ok(())
}

/// Folders in which nothing but a lock was made.
fn half_made(sessions: &Path, dry_run: bool, removed: &mut Vec<Removed>) -> io::Result<()> {
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
                    // Its inscriber was quicker.
                    Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty => continue,
                    other => other?,
                }
            }
            let why = "nothing was inscribed in it";
            removed.push(Removed { path: folder, bytes: 0, why });
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
        entry.file_name().to_str().is_some_and(safe_name)
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
