//! Finds out which file a name leads to.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::FileType;

use base::beneath;

/// Device and inode of a file with more than one name; `None` if it has one name or does not exist.
pub fn shared(path: &Path) -> Option<(u64, u64)> {
    let meta = fs::metadata(path).ok().filter(|m| m.is_file() && m.nlink() > 1)?;
    Some((meta.dev(), meta.ino()))
}

/// Whether the path is a job's real file, or nothing yet. With a link in its place or on the way,
/// it is no compaction file.
pub fn is_compaction_file(live: &Path) -> bool {
    match beneath::stat(live) {
        Ok(stat) => beneath::file_type(&stat) == FileType::RegularFile,
        // A job's former name is a link.
        Err(e) => {
            e.kind() == io::ErrorKind::NotFound && !live.parent().is_some_and(beneath::is_link)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_name_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        fs::write(&a, "").unwrap();
        assert_eq!(shared(&a), None);
        fs::hard_link(&a, &b).unwrap();
        assert!(shared(&a).is_some() && shared(&a) == shared(&b));
    }

    #[test]
    fn a_link_is_no_compaction_file() {
        let dir = tempfile::tempdir().unwrap();
        let jobs = dir.path().join(".brain-guard/jobs");
        fs::create_dir_all(jobs.join("j")).unwrap();
        let live = jobs.join("j/compaction.md");
        assert!(is_compaction_file(&live), "not there yet");
        fs::write(&live, "").unwrap();
        assert!(is_compaction_file(&live));
        std::os::unix::fs::symlink("j", jobs.join("old")).unwrap();
        assert!(!is_compaction_file(&jobs.join("old/compaction.md")), "below a link");
        fs::rename(&live, dir.path().join("compaction.md")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("compaction.md"), &live).unwrap();
        assert!(!is_compaction_file(&live), "a link");
    }
}
