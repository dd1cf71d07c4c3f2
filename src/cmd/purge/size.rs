//! Sizes, without following links.

use std::fs;
use std::path::PathBuf;

use base::clock::Time;

/// Maximum entries to count: a folder in a project may hold any number.
const AT_MOST: u64 = 100_000;

/// Number of files, their bytes, and when the last one was written.
pub fn measure(paths: &[PathBuf]) -> (u64, u64, Option<Time>) {
    let mut left = paths.to_vec();
    let (mut count, mut bytes, mut written) = (0, 0, None);
    while let Some(path) = left.pop() {
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        if meta.is_dir() {
            let all = fs::read_dir(&path).into_iter().flatten().flatten();
            left.extend(all.map(|entry| entry.path()).take(AT_MOST as usize));
            continue;
        }
        count += 1;
        bytes += meta.len();
        written = written.max(meta.modified().ok().map(Time::from));
        if count >= AT_MOST {
            break;
        }
    }
    (count, bytes, written)
}
