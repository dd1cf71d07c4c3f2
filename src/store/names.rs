//! Which file a name leads to.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::paths::resolve;

/// A file that has more than one name, by its device and number; `None` for one that has
/// a single name, or is not there.
pub fn shared(path: &Path) -> Option<(u64, u64)> {
    let meta = fs::metadata(path).ok().filter(|m| m.is_file() && m.nlink() > 1)?;
    Some((meta.dev(), meta.ino()))
}

/// Whether a job's file is where its path says: one that is a link to another file is no
/// compaction file. The folders above may be links.
pub fn is_compaction_file(live: &Path) -> bool {
    let real = resolve(live);
    let jobs = |path: &Path| path.ancestors().nth(2).map(Path::to_path_buf);
    // The folder of all jobs may be kept elsewhere, under another name.
    let in_jobs = |folder: &Path| {
        folder.file_name().is_some_and(|name| name == "jobs")
            || jobs(live).is_some_and(|own| resolve(&own) == folder)
    };
    real.file_name() == live.file_name() && jobs(&real).is_some_and(|folder| in_jobs(&folder))
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
        let job = dir.path().join("jobs/j");
        fs::create_dir_all(&job).unwrap();
        let live = job.join("compaction.md");
        assert!(is_compaction_file(&live), "not there yet");
        fs::write(&live, "").unwrap();
        std::os::unix::fs::symlink(&job, dir.path().join("jobs/old")).unwrap();
        assert!(is_compaction_file(&dir.path().join("jobs/old/compaction.md")));
        let elsewhere = tempfile::tempdir().unwrap();
        fs::create_dir(elsewhere.path().join("j")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), dir.path().join("kept")).unwrap();
        assert!(is_compaction_file(&dir.path().join("kept/j/compaction.md")), "jobs elsewhere");
        fs::rename(&live, dir.path().join("compaction.md")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("compaction.md"), &live).unwrap();
        assert!(!is_compaction_file(&live), "a link to another folder");
    }
}
