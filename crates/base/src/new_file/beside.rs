//! Files next to a session's file, and where the client looks for them.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{NewFile, Written};
use crate::atomic;

/// Copies files of a session's companion folder (`subagents/…`, `tool-results/…`) into that of a
/// new session, and returns the copies. Missing files are skipped. If one copy fails, all are
/// removed.
pub fn copy_companions<'a>(
    from: &Path,
    to: &Path,
    paths: impl Iterator<Item = &'a str>,
) -> io::Result<Vec<Written>> {
    let mut copied = Vec::new();
    for path in paths {
        match copy(&from.join(path), &to.join(path)) {
            Ok(Some(copy)) => copied.push(copy),
            Ok(None) => {}
            Err(e) => {
                remove_companions(to, &copied);
                return Err(e);
            }
        }
    }
    Ok(copied)
}

/// Removes copies, and the folders that become empty.
pub fn remove_companions(folder: &Path, copies: &[Written]) {
    for copy in copies {
        // A copy may be gone already.
        let _ = fs::remove_file(&copy.path);
        for parent in copy.path.ancestors().skip(1).take_while(|p| p.starts_with(folder)) {
            let _ = fs::remove_dir(parent);
        }
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<Option<Written>> {
    let mut options = OpenOptions::new();
    let mut source = match options.read(true).custom_flags(atomic::NO_WAIT).open(from) {
        Ok(source) => source,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    if !source.metadata()?.is_file() {
        return Ok(None);
    }
    let mut fork = NewFile::begin(to)?;
    io::copy(&mut source, &mut fork)?;
    fork.finish().map(Some)
}

/// The companion folder of a session's file: the same path without its extension.
pub fn companion_folder(session: &Path) -> PathBuf {
    session.with_extension("")
}

/// The client's folder name for a project's sessions, below `projects` in its config folder. Client
/// 2.1.329 turns all UTF-16 units except ASCII letters and digits into `-`. It cuts names over 200
/// and appends a hash.
pub fn project_name(cwd: &str) -> String {
    const LONGEST: usize = 200;
    let unit = |unit: u16| {
        let byte = u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric);
        byte.map_or('-', char::from)
    };
    let name: String = cwd.encode_utf16().map(unit).collect();
    if name.len() <= LONGEST {
        return name;
    }
    let hash = cwd
        .encode_utf16()
        .fold(0i32, |hash, unit| (hash << 5).wrapping_sub(hash).wrapping_add(i32::from(unit)));
    format!("{}-{}", &name[..LONGEST], base36(hash.unsigned_abs()))
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    while number > 0 || digits.is_empty() {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
    }
    digits.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companions_are_copied_where_they_are_and_removed_where_one_fails() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("old"), dir.path().join("new"));
        fs::create_dir_all(from.join("tool-results")).unwrap();
        fs::write(from.join("tool-results/a.txt"), "a").unwrap();
        let paths = ["tool-results/a.txt", "tool-results/gone.txt", "subagents/agent-1.jsonl"];
        let copied = copy_companions(&from, &to, paths.into_iter()).unwrap();
        assert_eq!(copied.len(), 1);
        assert_eq!(fs::read_to_string(to.join("tool-results/a.txt")).unwrap(), "a");
        assert!(!to.join("subagents").exists());
        remove_companions(&to, &copied);
        assert!(!to.exists());
        fs::create_dir_all(to.join("tool-results")).unwrap();
        fs::write(to.join("tool-results/b.txt"), "theirs").unwrap();
        fs::write(from.join("tool-results/b.txt"), "b").unwrap();
        let paths = ["tool-results/a.txt", "tool-results/b.txt"];
        assert!(copy_companions(&from, &to, paths.into_iter()).is_err());
        assert!(!to.join("tool-results/a.txt").exists());
        assert_eq!(fs::read_to_string(to.join("tool-results/b.txt")).unwrap(), "theirs");
    }

    #[test]
    fn a_projects_folder_is_called_as_the_client_calls_it() {
        assert_eq!(project_name("/home/dev/my.project_1"), "-home-dev-my-project-1");
        assert_eq!(project_name("/é/😀"), "-----");
        let long = format!("/{}", "abcdefghi/".repeat(25));
        let name = project_name(&long);
        assert_eq!(&name[..11], "-abcdefghi-");
        // Computed with the client's own function: Math.abs(hash).toString(36).
        assert_eq!(&name[200..], "-uwz0zt");
        assert_eq!((base36(0), base36(35), base36(36)), ("0".into(), "z".into(), "10".into()));
    }
}
