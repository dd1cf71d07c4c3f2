//! A job's sealed versions: written once, never changed, mirrored in the state.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::lock;
use crate::clock::Time;
use crate::compaction::{self, Shape};
use crate::seal::Sealed;
use crate::store::paths::Places;
use crate::store::{archives, atomic};

fn sealed_dir(places: &Places, job: &str) -> PathBuf {
    places.job(job).join("sealed")
}

/// The path of a sealed version.
pub fn sealed_path(places: &Places, job: &str, version: u64) -> PathBuf {
    sealed_dir(places, job).join(format!("v{version:04}.md"))
}

fn mirror_dir(places: &Places, job: &str) -> PathBuf {
    places.state.join("sealed").join(job)
}

/// One sealed version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Its number.
    pub number: u64,
    /// When it was sealed.
    pub sealed: Option<Time>,
    /// Where it lies: with the job, else in the mirror.
    pub path: PathBuf,
}

/// The sealed versions of a job, oldest first.
pub fn versions(places: &Places, job: &str, shape: &Shape) -> Vec<Version> {
    let mut found: BTreeMap<u64, PathBuf> = BTreeMap::new();
    for dir in [mirror_dir(places, job), sealed_dir(places, job)] {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let digits = name.to_str().and_then(|n| n.strip_prefix('v')?.strip_suffix(".md"));
            if let Some(number) = digits.and_then(|digits| digits.parse().ok()) {
                found.insert(number, entry.path());
            }
        }
    }
    let read = |(number, path): (u64, PathBuf)| {
        let text = atomic::read_text(&path).ok().flatten().unwrap_or_default();
        let sealed = compaction::parse(&text, shape).front().sealed.clone();
        Version { number, sealed: sealed.and_then(|at| at.parse().ok()), path }
    };
    found.into_iter().map(read).collect()
}

/// The text of a sealed version; `None` where there is none of this number.
///
/// # Errors
/// What the system says.
pub fn version(places: &Places, job: &str, number: u64) -> io::Result<Option<String>> {
    let path = sealed_path(places, job, number);
    let mirrored = path.file_name().map(|name| mirror_dir(places, job).join(name));
    match atomic::read_text(&path)? {
        Some(text) => Ok(Some(text)),
        None => mirrored.map_or(Ok(None), |path| atomic::read_text(&path)),
    }
}

/// Makes `text`, a sealed version, the job's live file again and says where the file
/// lies that was live until now; `None` where that one was the same.
///
/// # Errors
/// The lock stayed taken, or what the system says; the live file is untouched then.
pub fn restore(
    places: &Places,
    job: &str,
    text: &str,
    shape: &Shape,
    now: Time,
) -> io::Result<Option<PathBuf>> {
    let _held = lock(places, job)?;
    let document = compaction::parse(text, shape);
    // It may be from before the job got its name.
    let text = match document.front().job.as_deref() {
        Some(from) if from != job => compaction::rename(text, shape, from, job),
        _ => text.to_owned(),
    };
    let live = places.compaction(job);
    archives::keep_bytes(places, job)?;
    let before = atomic::read_text(&live)?;
    if before.as_ref() == Some(&text) {
        return Ok(None);
    }
    let kept = match before {
        None => None,
        Some(before) => {
            let dir = sealed_dir(places, job);
            fs::create_dir_all(&dir)?;
            let path = free_name(&dir, &format!("replaced-{}", now.format("%Y%m%dT%H%M%SZ")));
            atomic::write(&path, before.as_bytes())?;
            Some(path)
        }
    };
    atomic::write(&live, text.as_bytes())?;
    Ok(kept)
}

/// A name that no file of the folder has, since nothing that is kept is overwritten.
fn free_name(dir: &Path, stem: &str) -> PathBuf {
    let numbered = (2..).map(|number| dir.join(format!("{stem}-{number}.md")));
    let mut names = std::iter::once(dir.join(format!("{stem}.md"))).chain(numbered);
    names.find(|path| !path.exists()).unwrap_or_else(|| dir.join(format!("{stem}.md")))
}

/// The highest version that was ever sealed, here or in the mirror.
pub fn last_version(places: &Places, job: &str) -> u64 {
    [sealed_dir(places, job), mirror_dir(places, job)]
        .iter()
        .filter_map(|dir| fs::read_dir(dir).ok())
        .flat_map(Iterator::flatten)
        .filter_map(|entry| {
            let name = entry.file_name();
            let digits = name.to_str()?.strip_prefix('v')?.split('.').next()?;
            digits.parse().ok()
        })
        .max()
        .unwrap_or(0)
}

/// Writes a seal's result: the archive first, the live file last, so that a kill
/// in between leaves the file as it was with nothing lost.
/// The caller holds the job's lock.
///
/// # Errors
/// What the system says; the live file is untouched then.
pub fn write_sealed(
    places: &Places,
    job: &str,
    source: &str,
    sealed: &Sealed,
) -> io::Result<PathBuf> {
    let dir = sealed_dir(places, job);
    fs::create_dir_all(&dir)?;
    let path = sealed_path(places, job, sealed.report.version);
    atomic::write(&path.with_extension("raw.md"), source.as_bytes())?;
    if !sealed.removed_markdown.is_empty() {
        atomic::write(&path.with_extension("removed.md"), sealed.removed_markdown.as_bytes())?;
    }
    atomic::write(&path, sealed.text.as_bytes())?;
    atomic::write(&places.compaction(job), sealed.text.as_bytes())?;
    Ok(path)
}

/// Copies a job's sealed versions into the state: `git clean -fdx` in the
/// project must not cost a memory.
///
/// # Errors
/// What the system says.
pub fn mirror(places: &Places, job: &str) -> io::Result<()> {
    let from = sealed_dir(places, job);
    let to = mirror_dir(places, job);
    atomic::create_private_dir(&to)?;
    for entry in fs::read_dir(&from)?.flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        if Path::new(&name).extension().is_some_and(|e| e == "md") && !to.join(&name).exists() {
            atomic::write_unsynced(&to.join(&name), &atomic::read(&path)?.unwrap_or_default())?;
        }
    }
    Ok(())
}
