//! Temporary files that killed programs left: `.NAME.PID.N.tmp`, as `atomic` names them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use base::atomic;
use base::clock::Time;

/// Seconds until a temporary file counts as left. A process id from another container means nothing
/// here, but such a program renames its file within this time.
const LEFT: i64 = 60;

/// The temporary files in a folder whose programs are gone; empty if the folder is a link.
pub fn leftovers(folder: &Path, now: Time) -> Vec<PathBuf> {
    if !fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir()) {
        return Vec::new();
    }
    let all = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = all.filter(|entry| {
        let left = |name: &str| writer(name).is_some_and(|pid| !exists(pid));
        entry.file_type().is_ok_and(|kind| kind.is_file())
            && entry.file_name().to_str().is_some_and(left)
    });
    // Uses the change time, because the modification time can be set.
    let old = |path: &PathBuf| {
        atomic::mark(path).is_some_and(|(_, changed, ..)| {
            now.timestamp_nanos_opt().unwrap_or(0) - changed > LEFT * 1_000_000_000
        })
    };
    named.map(|entry| entry.path()).filter(old).collect()
}

/// Depth of folders to read below the state: `jobs/JOB/sealed`.
const DEPTH: usize = 3;

/// The [`leftovers`] in a folder of the state and the folders below it.
pub(super) fn below(folder: &Path, now: Time) -> Vec<PathBuf> {
    let mut folders = vec![(folder.to_owned(), 0)];
    let mut found = Vec::new();
    while let Some((folder, depth)) = folders.pop() {
        found.extend(leftovers(&folder, now));
        let all = fs::read_dir(&folder).into_iter().flatten().flatten();
        let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let inner = all.filter(|entry| depth < DEPTH && is_folder(entry));
        folders.extend(inner.map(|entry| (entry.path(), depth + 1)));
    }
    found
}

/// Removes the [`leftovers`] of a folder. Returns the first error, after trying all files.
pub fn remove_leftovers(folder: &Path, now: Time) -> io::Result<()> {
    leftovers(folder, now).iter().map(|path| atomic::remove(path)).fold(Ok(()), io::Result::and)
}

/// The process id in the name of a temporary file; `None` for any other name.
fn writer(name: &str) -> Option<Pid> {
    let rest = name.strip_prefix('.')?.strip_suffix(".tmp")?;
    let (rest, attempt) = rest.rsplit_once('.')?;
    let (target, pid) = rest.rsplit_once('.')?;
    let number = |digits: &str, most: usize| {
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        let written = digits == "0" || !digits.starts_with('0');
        (plain && written && digits.len() <= most).then(|| digits.parse::<i32>().ok()).flatten()
    };
    number(attempt, 2)?;
    let pid = number(pid, 10)?;
    if target.is_empty() { None } else { Pid::from_raw(pid) }
}

/// Whether a process with this id exists, for any user.
fn exists(pid: Pid) -> bool {
    test_kill_process(pid) != Err(Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;

    /// Larger than the kernel's largest process id.
    const GONE: &str = "4194305";

    #[test]
    fn only_names_that_our_writer_makes_are_taken() {
        for name in [".compaction.md.7.0.tmp", ".job.json.4194305.99.tmp", ".x.1.10.tmp"] {
            assert!(writer(name).is_some(), "{name}");
        }
        for name in [
            "compaction.md.7.0.tmp",
            ".compaction.md.7.0.tmp~",
            ".compaction.md.7.tmp",
            ".compaction.md.0.0.tmp",
            ".compaction.md.07.0.tmp",
            ".compaction.md.+7.0.tmp",
            ".compaction.md.7.100.tmp",
            ".compaction.md.7.00.tmp",
            ".compaction.md.7..tmp",
            ".compaction.md.99999999999.0.tmp",
            "..7.0.tmp",
            ".7.0.tmp",
            ".tmp",
            "notes.tmp",
        ] {
            assert!(writer(name).is_none(), "{name}");
        }
    }

    #[test]
    fn what_a_living_program_writes_stays_and_so_does_what_is_young() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let left = at(&format!(".compaction.md.{GONE}.0.tmp"));
        let mine = at(&format!(".compaction.md.{}.0.tmp", std::process::id()));
        let other = at("compaction.md");
        for path in [&left, &mine, &other] {
            fs::write(path, "x").unwrap();
        }
        let folder = at(&format!(".folder.{GONE}.0.tmp"));
        fs::create_dir(&folder).unwrap();
        let link = at(&format!(".link.{GONE}.0.tmp"));
        std::os::unix::fs::symlink(&other, &link).unwrap();
        let now = base::clock::now();
        assert_eq!(leftovers(dir.path(), now), Vec::<PathBuf>::new());
        let later = now + TimeDelta::seconds(LEFT + 2);
        assert_eq!(leftovers(dir.path(), later), std::slice::from_ref(&left));
        remove_leftovers(dir.path(), later).unwrap();
        assert!(!left.exists());
        for path in [&mine, &other, &folder, &link] {
            assert!(path.exists(), "{}", path.display());
        }
    }

    #[test]
    fn a_folder_that_is_a_link_is_not_looked_into() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        fs::write(real.join(format!(".a.{GONE}.0.tmp")), "x").unwrap();
        let later = base::clock::now() + TimeDelta::seconds(LEFT + 2);
        assert_eq!(leftovers(&link, later), Vec::<PathBuf>::new());
        assert_eq!(leftovers(&real, later).len(), 1);
        assert!(leftovers(&dir.path().join("none"), later).is_empty());
        fs::create_dir_all(real.join("sealed/job")).unwrap();
        let deep = real.join(format!("sealed/job/.v0001.md.{GONE}.0.tmp"));
        fs::write(&deep, "x").unwrap();
        assert_eq!(below(&real, later).len(), 2);
        assert!(below(dir.path(), later).contains(&deep));
    }
}
