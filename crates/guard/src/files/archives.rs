//! What left a job's file: what the seals took out, kept beside the sealed versions and in
//! the state's mirror, which outlives a cleaned checkout; and bytes that are no text.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;

use base::paths::{Places, short_digest};
use base::{atomic, beneath};

/// The archives of a job, oldest version first, each once.
pub fn removed(places: &Places, job: &str) -> Vec<PathBuf> {
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

/// A file that was not UTF-8, as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The compaction file.
    pub file: PathBuf,
    /// Its first line that is no text, counted from 1.
    pub line: usize,
    /// Where its bytes are kept.
    pub path: PathBuf,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "line {} of {} was not UTF-8: what could not be read is U+FFFD now; the file as it was is kept in {}",
            self.line,
            self.file.display(),
            self.path.display()
        )
    }
}

/// Keeps the bytes of a compaction file that is not UTF-8, before it is written anew as
/// text. Refusing would leave a squeezed agent without a way out; losing them is worse.
/// The caller holds the job's lock.
///
/// # Errors
/// What the system says.
pub fn keep_bytes(places: &Places, job: &str) -> io::Result<Option<Kept>> {
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
