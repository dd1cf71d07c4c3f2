//! A job's sealed versions: written once, never changed, mirrored in the state.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::{lock, write_live};
use crate::compaction::{self, Shape};
use crate::files::archives;
use crate::files::job_files::MOST;
use crate::seal::Sealed;
use base::clock::Time;
use base::paths::Places;
use base::{atomic, beneath};

fn sealed_dir(places: &Places, job: &str) -> PathBuf {
    places.job(job).join("sealed")
}

/// The names of the regular files in a folder of sealed versions.
fn files(dir: &Path) -> Vec<String> {
    let all = beneath::list(dir, MOST).unwrap_or_default();
    all.into_iter()
        .filter(|(_, kind)| *kind == FileType::RegularFile)
        .map(|(name, _)| name)
        .collect()
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
    /// The path: with the job, else in the mirror.
    pub path: PathBuf,
}

/// The sealed versions of a job, oldest first.
pub fn versions(places: &Places, job: &str, shape: &Shape) -> Vec<Version> {
    let mut found: BTreeMap<u64, PathBuf> = BTreeMap::new();
    for dir in [mirror_dir(places, job), sealed_dir(places, job)] {
        for name in files(&dir) {
            let digits = name.strip_prefix('v').and_then(|rest| rest.strip_suffix(".md"));
            if let Some(number) = digits.and_then(|digits| digits.parse().ok()) {
                found.insert(number, dir.join(name));
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

/// The text of a sealed version; `None` if it does not exist.
pub fn version(places: &Places, job: &str, number: u64) -> io::Result<Option<String>> {
    let path = sealed_path(places, job, number);
    let mirrored = path.file_name().map(|name| mirror_dir(places, job).join(name));
    match atomic::read_text(&path)? {
        Some(text) => Ok(Some(text)),
        None => mirrored.map_or(Ok(None), |path| atomic::read_text(&path)),
    }
}

/// Makes `text`, a sealed version, the job's live file. Returns the path of the replaced file, or
/// `None` if it was the same. On an error the live file is unchanged. Fails while another process
/// holds the lock.
pub fn restore(
    places: &Places,
    job: &str,
    text: &str,
    shape: &Shape,
    now: Time,
) -> io::Result<Option<PathBuf>> {
    let _held = lock(places, job)?;
    let document = compaction::parse(text, shape);
    // The text may be older than the job's name.
    let text = match document.front().job.as_deref() {
        Some(from) if from != job => compaction::rename(text, shape, from, job),
        _ => text.to_owned(),
    };
    let live = places.compaction(job);
    archives::save_invalid_utf8(places, job)?;
    let before = atomic::read_text(&live)?;
    if before.as_ref() == Some(&text) {
        return Ok(None);
    }
    let kept = match before {
        None => None,
        Some(before) => {
            let dir = sealed_dir(places, job);
            beneath::create_dirs(&dir, 0o755)?;
            let path = free_name(&dir, &format!("replaced-{}", now.format("%Y%m%dT%H%M%SZ")));
            atomic::write(&path, before.as_bytes())?;
            Some(path)
        }
    };
    write_live(places, job, &text)?;
    Ok(kept)
}

/// A name that no file in the folder has, because saved files are never overwritten.
fn free_name(dir: &Path, stem: &str) -> PathBuf {
    let numbered = (2..).map(|number| dir.join(format!("{stem}-{number}.md")));
    let mut names = std::iter::once(dir.join(format!("{stem}.md"))).chain(numbered);
    names.find(|path| !beneath::exists(path)).unwrap_or_else(|| dir.join(format!("{stem}.md")))
}

/// The highest version ever sealed, here or in the mirror.
pub fn last_version(places: &Places, job: &str) -> u64 {
    [sealed_dir(places, job), mirror_dir(places, job)]
        .iter()
        .flat_map(|dir| files(dir))
        .filter_map(|name| name.strip_prefix('v')?.split('.').next()?.parse().ok())
        .max()
        .unwrap_or(0)
}

/// Writes the result of a seal: the archive first, the live file last. A kill in between leaves the
/// live file unchanged. The caller holds the job's lock.
pub fn write_sealed(
    places: &Places,
    job: &str,
    source: &str,
    sealed: &Sealed,
) -> io::Result<PathBuf> {
    let dir = sealed_dir(places, job);
    beneath::create_dirs(&dir, 0o755)?;
    let path = sealed_path(places, job, sealed.report.version);
    atomic::write(&path.with_extension("raw.md"), source.as_bytes())?;
    if !sealed.removed_markdown.is_empty() {
        atomic::write(&path.with_extension("removed.md"), sealed.removed_markdown.as_bytes())?;
    }
    atomic::write(&path, sealed.text.as_bytes())?;
    write_live(places, job, &sealed.text)?;
    Ok(path)
}

/// Whether a sealed version equals the state's copy. A version without a copy counts as equal.
pub fn is_as_sealed(places: &Places, job: &str, number: u64) -> bool {
    let path = sealed_path(places, job, number);
    let copy = mirror_dir(places, job).join(path.file_name().unwrap_or_default());
    match atomic::read(&copy) {
        Ok(Some(copy)) => atomic::read(&path).is_ok_and(|there| there.is_none_or(|t| t == copy)),
        _ => true,
    }
}

/// Copies a job's sealed versions into the state, because `git clean -fdx` in the project must not
/// delete them.
pub fn mirror(places: &Places, job: &str) -> io::Result<()> {
    let from = sealed_dir(places, job);
    let to = mirror_dir(places, job);
    atomic::create_private_dir(&to)?;
    for name in files(&from) {
        let copy = to.join(&name);
        if Path::new(&name).extension().is_some_and(|e| e == "md") && !copy.exists() {
            let bytes = atomic::read(&from.join(&name))?.unwrap_or_default();
            atomic::write_unsynced(&copy, &bytes)?;
        }
    }
    Ok(())
}
