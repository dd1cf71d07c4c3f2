//! Finds and reads the client's `keybindings.json`.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use chrono::DateTime;

use base::atomic;
use base::clock::Time;

/// The file's path in the client's config folder.
pub fn path(config: &Path) -> PathBuf {
    config.join("keybindings.json")
}

/// The file's text and the time of its last change, in content, name or link. `None` without a
/// file. Fails with `InvalidData` if it is not UTF-8.
pub fn read(path: &Path) -> io::Result<Option<(String, Time)>> {
    let Some(bytes) = atomic::read(path)? else { return Ok(None) };
    let text = String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))?;
    let (file, link) = (fs::metadata(path)?, fs::symlink_metadata(path)?);
    let seconds = [file.mtime(), file.ctime(), link.ctime()].into_iter().max().unwrap_or(0);
    Ok(Some((text, DateTime::from_timestamp(seconds, 0).unwrap_or_default())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_file_that_was_moved_here_counts_as_changed_now() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (dir.path().join("old"), path(dir.path()));
        assert!(read(&new).unwrap().is_none());
        let file = fs::File::create(&old).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        fs::rename(&old, &new).unwrap();
        let (text, changed) = read(&new).unwrap().unwrap();
        assert_eq!(text, "");
        assert!((base::clock::now() - changed).num_seconds() < 60);
    }
}
