//! Text that left a job's file. Archives of the seals lie next to the sealed versions and in the
//! state's mirror, which survives a cleaned checkout. Files that are not UTF-8 are saved unchanged.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;

use base::paths::{Places, short_digest};
use base::{atomic, beneath};

/// The paths of a job's archives, oldest version first, without duplicates.
pub fn list_archives(places: &Places, job: &str) -> Vec<PathBuf> {
    let mut found = BTreeMap::new();
    for dir in [places.job(job).join("sealed"), places.state.join("sealed").join(job)] {
        for (name, _) in beneath::list(&dir, 10_000).unwrap_or_default() {
            if name.ends_with(".removed.md") {
                let path = dir.join(&name);
                found.entry(name).or_insert(path);
            }
        }
    }
    found.into_values().collect()
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
    if !beneath::exists(&path) {
        atomic::write(&path, &bytes)?;
    }
    Ok(Some(Kept { file, line, path }))
}
