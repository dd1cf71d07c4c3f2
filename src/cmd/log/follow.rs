//! Follows the logs. A log that is rotated is read to its end, then the new one from its start.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time between two checks.
const GLANCE: Duration = Duration::from_millis(200);

/// Maximum bytes to read of a log; a larger one is damaged.
const LARGEST: usize = 32 * 1024 * 1024;

/// Where a log ended: the file and its length. `None` if there was no log.
#[derive(Debug)]
pub struct End(Option<(File, u64)>);

impl End {
    /// The present end of a log.
    pub fn of(log: &Path) -> Self {
        let open = || -> io::Result<(File, u64)> {
            let file = File::open(log)?;
            let length = file.metadata()?.len();
            Ok((file, length))
        };
        Self(open().ok())
    }

    /// The log's text up to this end.
    pub fn text(&self) -> io::Result<String> {
        let Some((file, length)) = &self.0 else { return Ok(String::new()) };
        let mut bytes = vec![0; usize::try_from(*length).unwrap_or(usize::MAX).min(LARGEST)];
        let from = length - bytes.len() as u64;
        file.read_exact_at(&mut bytes, from)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

struct Followed<'a> {
    log: &'a Path,
    file: Option<File>,
    torn: Vec<u8>,
}

/// Passes every line that is appended after `ends` to `each`. Returns when `each` fails, because
/// its reader is gone.
pub fn lines(logs: &[PathBuf], ends: &[End], mut each: impl FnMut(&Path, &str) -> io::Result<()>) {
    let mut followed: Vec<Followed> =
        logs.iter().zip(ends).map(|(log, end)| begin(log, end)).collect();
    loop {
        for one in &mut followed {
            for line in one.fresh() {
                if each(one.log, &line).is_err() {
                    return;
                }
            }
        }
        std::thread::sleep(GLANCE);
    }
}

fn begin<'a>(log: &'a Path, end: &End) -> Followed<'a> {
    let file = end.0.as_ref().and_then(|(file, at)| {
        let mut file = file.try_clone().ok()?;
        file.seek(SeekFrom::Start(*at)).ok()?;
        Some(file)
    });
    Followed { log, file, torn: Vec::new() }
}

impl Followed<'_> {
    fn fresh(&mut self) -> Vec<String> {
        let mut lines = self.rest();
        if self.moved() {
            // The old file has what was written before the rotation.
            lines.extend(self.rest());
            self.torn.clear();
            self.file = File::open(self.log).ok();
            lines.extend(self.rest());
        }
        lines
    }

    /// Whether another file has the log's path now.
    fn moved(&self) -> bool {
        let Ok(now) = std::fs::metadata(self.log) else { return false };
        let held = self.file.as_ref().and_then(|file| file.metadata().ok());
        held.is_none_or(|held| (held.dev(), held.ino()) != (now.dev(), now.ino()))
    }

    /// The complete lines that were appended since the last call.
    fn rest(&mut self) -> Vec<String> {
        let Some(file) = &mut self.file else { return Vec::new() };
        // A failed read is retried at the next check.
        let _ = file.read_to_end(&mut self.torn);
        let Some(end) = memchr::memrchr(b'\n', &self.torn) else { return Vec::new() };
        let whole: Vec<u8> = self.torn.drain(..=end).collect();
        String::from_utf8_lossy(&whole).lines().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appended_lines_come_once_across_a_rotation() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log.jsonl");
        std::fs::write(&log, "old\n").unwrap();
        let mut one = begin(&log, &End::of(&log));
        let append = |text: &[u8]| base::atomic::append(&log, text).unwrap();
        append(b"a\nb");
        assert_eq!(one.fresh(), ["a"]);
        append(b"c\n");
        assert_eq!(one.fresh(), ["bc"]);
        append(b"d\n");
        std::fs::rename(&log, dir.path().join("log.1.jsonl")).unwrap();
        append(b"e\n");
        assert_eq!(one.fresh(), ["d", "e"]);
        assert!(one.fresh().is_empty());
    }

    #[test]
    fn a_log_that_is_not_there_yet_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log.jsonl");
        let mut one = begin(&log, &End::of(&log));
        assert!(one.fresh().is_empty());
        std::fs::write(&log, "a\n").unwrap();
        assert_eq!(one.fresh(), ["a"]);
    }
}
