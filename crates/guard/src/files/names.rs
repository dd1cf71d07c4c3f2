//! Finds out which file a name leads to.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Device and inode of a file with more than one name; `None` if it has one name or does not exist.
pub fn shared(path: &Path) -> Option<(u64, u64)> {
    let meta = fs::metadata(path).ok().filter(|m| m.is_file() && m.nlink() > 1)?;
    Some((meta.dev(), meta.ino()))
}

/// Whether the path is a job's real file, or nothing yet. A link there would open any file to the
/// agent at every tier; so would a hard link. A job's former name is a link, too.
pub fn is_compaction_file(live: &Path) -> bool {
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    // Without a name if it was replaced just now.
    let is_own = |meta: fs::Metadata| meta.is_file() && meta.nlink() <= 1;
    !live.parent().is_some_and(is_link) && fs::symlink_metadata(live).map_or(true, is_own)
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
        let jobs = dir.path().join("jobs");
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
