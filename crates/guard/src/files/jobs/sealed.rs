//! A job's sealed versions: written once, never changed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{lock, write_live};
use crate::files::archives;
use base::atomic;
use base::clock::Time;
use base::paths::Places;
use notes::compaction::{self, Shape};
use notes::seal::Sealed;

fn sealed_dir(places: &Places, job: &str) -> PathBuf {
    places.job(job).join("sealed")
}

/// The path of a sealed version.
pub fn sealed_path(places: &Places, job: &str, version: u64) -> PathBuf {
    sealed_dir(places, job).join(format!("v{version:04}.md"))
}

/// The numbers of the sealed versions, in order.
fn numbers(places: &Places, job: &str) -> Vec<u64> {
    let names = fs::read_dir(sealed_dir(places, job)).into_iter().flatten().flatten();
    let number = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_prefix('v')?.strip_suffix(".md")?.parse().ok()
    };
    let mut numbers: Vec<u64> = names.filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

/// One sealed version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Its number.
    pub number: u64,
    /// When it was sealed.
    pub sealed: Option<Time>,
    /// The path.
    pub path: PathBuf,
}

/// The sealed versions of a job, oldest first.
pub fn versions(places: &Places, job: &str, shape: &Shape) -> Vec<Version> {
    let read = |number| {
        let path = sealed_path(places, job, number);
        let text = atomic::read_text(&path).ok().flatten().unwrap_or_default();
        let sealed = compaction::parse(&text, shape).front().sealed.clone();
        Version { number, sealed: sealed.and_then(|at| at.parse().ok()), path }
    };
    numbers(places, job).into_iter().map(read).collect()
}

/// The text of a sealed version; `None` if it does not exist.
pub fn version(places: &Places, job: &str, number: u64) -> io::Result<Option<String>> {
    atomic::read_text(&sealed_path(places, job, number))
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
            atomic::create_private_dir(&dir)?;
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
    names.find(|path| !path.exists()).unwrap_or_else(|| dir.join(format!("{stem}.md")))
}

/// The highest version; 0 if there is none.
pub fn last_version(places: &Places, job: &str) -> u64 {
    numbers(places, job).last().copied().unwrap_or(0)
}

/// Writes the result of a seal: the archive first, the live file last. A kill in between leaves the
/// live file unchanged. The caller holds the job's lock.
pub fn write_sealed(
    places: &Places,
    job: &str,
    source: &str,
    sealed: &Sealed,
) -> io::Result<PathBuf> {
    atomic::create_private_dir(&sealed_dir(places, job))?;
    let path = sealed_path(places, job, sealed.report.version);
    let mut archive = vec![(path.with_extension("raw.md"), source)];
    if !sealed.removed_markdown.is_empty() {
        archive.push((path.with_extension("removed.md"), &sealed.removed_markdown));
    }
    archive.push((path.clone(), &sealed.text));
    atomic::write_in_folder(&archive)?;
    write_live(places, job, &sealed.text)?;
    Ok(path)
}
