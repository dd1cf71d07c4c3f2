//! Text that left a job's file. Archives of the seals lie next to the sealed versions. Files that are
//! not UTF-8 are saved unchanged.

use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;

use base::atomic;
use base::paths::{Places, short_digest};

/// The paths of a job's archives, oldest version first.
pub fn list_archives(places: &Places, job: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(places.job(job).join("sealed")).into_iter().flatten().flatten();
    let is_archive = |path: &PathBuf| path.to_string_lossy().ends_with(".removed.md");
    let mut found: Vec<PathBuf> = all.map(|entry| entry.path()).filter(is_archive).collect();
    found.sort();
    found
}

/// A saved copy of a file that was not UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The compaction file.
    pub file: PathBuf,
    /// The first line that is not UTF-8, counted from 1.
    pub line: usize,
    /// The path of the copy.
    pub path: PathBuf,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "line {} of {} was not UTF-8; unreadable bytes became U+FFFD. The original is in {}",
            self.line,
            self.file.display(),
            self.path.display()
        )
    }
}

/// Saves a compaction file that is not UTF-8 before it is rewritten as text. A refusal would leave
/// a restricted agent stuck. The caller holds the job's lock.
pub fn save_invalid_utf8(places: &Places, job: &str) -> io::Result<Option<Kept>> {
    let file = places.compaction(job);
    let Some(bytes) = atomic::read(&file)? else { return Ok(None) };
    let Err(e) = std::str::from_utf8(&bytes) else { return Ok(None) };
    let line = bytes[..e.valid_up_to()].split(|byte| *byte == b'\n').count();
    let path = file.with_file_name(format!("compaction.bytes-{}.md", short_digest(&bytes)));
    if !path.exists() {
        atomic::write(&path, &bytes)?;
    }
    Ok(Some(Kept { file, line, path }))
}
