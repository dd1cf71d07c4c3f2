//! A new session's file: it appears whole under its name or not at all, and never in the
//! place of another. Nothing has a name before it is whole, so that a kill leaves nothing.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use sha2::{Digest, Sha256};

use super::atomic;

/// A file that is being written.
#[derive(Debug)]
pub struct Fork {
    file: BufWriter<File>,
    /// Its name until it is whole, where the file system knows no file without one.
    temp: Option<PathBuf>,
    target: PathBuf,
    hash: Sha256,
    bytes: u64,
}

/// A file that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Where.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its content, in hex.
    pub sha256: String,
}

const BUFFER: usize = 256 * 1024;

impl Fork {
    /// Begins a file that will be `target`; its folder is made where it is missing.
    ///
    /// # Errors
    /// `AlreadyExists` where something is there; what the system says.
    pub fn begin(target: &Path) -> io::Result<Self> {
        if fs::symlink_metadata(target).is_ok() {
            return Err(there(target));
        }
        let folder =
            target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        atomic::create_private_dir(folder)?;
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        if let Ok(nameless) = rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR) {
            return Ok(Self::of(File::from(nameless), None, target));
        }
        Self::named(folder, target)
    }

    /// A file that has another name until it is whole.
    fn named(folder: &Path, target: &Path) -> io::Result<Self> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let temp = folder.join(format!(".{name}.{}.tmp", std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temp)?;
        Ok(Self::of(file, Some(temp), target))
    }

    fn of(file: File, temp: Option<PathBuf>, target: &Path) -> Self {
        let file = BufWriter::with_capacity(BUFFER, file);
        Self { file, temp, target: target.to_owned(), hash: Sha256::new(), bytes: 0 }
    }

    /// What it is so far, and is to be called.
    pub fn so_far(&self) -> Written {
        let sha256 = self.hash.clone().finalize().iter().fold(String::new(), |mut hex, byte| {
            // Writing into a text can't fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        Written { path: self.target.clone(), bytes: self.bytes, sha256 }
    }

    /// Puts the file on the disk and gives it its name.
    ///
    /// # Errors
    /// `AlreadyExists` where something came to be there; what the system says. There is
    /// nothing then.
    pub fn finish(mut self) -> io::Result<Written> {
        self.file.flush()?;
        let file = self.file.get_ref();
        file.sync_all()?;
        let linked = if let Some(temp) = &self.temp {
            fs::hard_link(temp, &self.target)
        } else {
            let nameless = format!("/proc/self/fd/{}", file.as_raw_fd());
            rustix::fs::linkat(CWD, nameless, CWD, &self.target, AtFlags::SYMLINK_FOLLOW)
                .map_err(io::Error::from)
        };
        linked.map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => there(&self.target),
            _ => e,
        })?;
        if let Some(folder) = self.target.parent() {
            // Some file systems refuse to sync a folder; the name itself stands.
            let _ = File::open(folder).and_then(|d| d.sync_all());
        }
        Ok(self.so_far())
    }
}

impl Write for Fork {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Fork {
    fn drop(&mut self) {
        if let Some(temp) = &self.temp {
            // What it was for stands under its own name, or has failed with a word.
            let _ = fs::remove_file(temp);
        }
    }
}

fn there(target: &Path) -> io::Error {
    let what = format!("{} is there already; nothing is overwritten", target.display());
    io::Error::new(io::ErrorKind::AlreadyExists, what)
}

/// Copies files of a session's companion folder (`subagents/…`, `tool-results/…`) into that
/// of a new one; those that are not there are passed over. Gives back the copies. Nothing of
/// them stays when one fails.
///
/// # Errors
/// What the system says.
pub fn companions<'a>(
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

/// Removes copies, and the folders that are empty then.
pub fn remove_companions(folder: &Path, copies: &[Written]) {
    for copy in copies {
        // What is gone already is as it should be.
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
    let mut fork = Fork::begin(to)?;
    io::copy(&mut source, &mut fork)?;
    fork.finish().map(Some)
}

/// The companion folder of a session's file: what is called as it, without the ending.
pub fn companion_folder(session: &Path) -> PathBuf {
    session.with_extension("")
}

/// How the client calls the folder of a project's sessions, below `projects` in its config
/// folder (client 2.1.329: every UTF-16 unit but ASCII letters and digits is `-`, and what
/// is longer than 200 ends in a hash).
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
    fn a_file_is_there_whole_or_not_at_all_and_never_in_anothers_place() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("new/a.jsonl");
        let mut fork = Fork::begin(&target).unwrap();
        fork.write_all(b"one\n").unwrap();
        assert!(!target.exists());
        assert!(fs::read_dir(target.parent().unwrap()).unwrap().count() <= 1);
        let written = fork.finish().unwrap();
        assert_eq!((written.bytes, fs::read(&target).unwrap()), (4, b"one\n".to_vec()));
        assert_eq!(written.sha256, format!("{:x}", Sha256::digest(b"one\n")));
        assert_eq!(Fork::begin(&target).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        // Somebody is faster.
        let late = dir.path().join("new/b.jsonl");
        let mut fork = Fork::begin(&late).unwrap();
        fork.write_all(b"two\n").unwrap();
        fs::write(&late, "theirs").unwrap();
        assert_eq!(fork.finish().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&late).unwrap(), "theirs");
        // Given up.
        drop(Fork::begin(&dir.path().join("new/c.jsonl")).unwrap());
        assert_eq!(fs::read_dir(dir.path().join("new")).unwrap().count(), 2);
    }

    #[test]
    fn a_file_system_without_nameless_files_will_do() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, target) = (dir.path(), dir.path().join("a.jsonl"));
        drop(Fork::named(folder, &target).unwrap());
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
        let mut fork = Fork::named(folder, &target).unwrap();
        fork.write_all(b"one\n").unwrap();
        assert!(!target.exists());
        fork.finish().unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "one\n");
        let late = Fork::named(folder, &target).unwrap().finish();
        assert_eq!(late.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
    }

    #[test]
    fn files_are_the_users_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("x.jsonl");
        Fork::begin(&target).unwrap().finish().unwrap();
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn companions_are_copied_where_they_are_and_removed_where_one_fails() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("old"), dir.path().join("new"));
        fs::create_dir_all(from.join("tool-results")).unwrap();
        fs::write(from.join("tool-results/a.txt"), "a").unwrap();
        let paths = ["tool-results/a.txt", "tool-results/gone.txt", "subagents/agent-1.jsonl"];
        let copied = companions(&from, &to, paths.into_iter()).unwrap();
        assert_eq!(copied.len(), 1);
        assert_eq!(fs::read_to_string(to.join("tool-results/a.txt")).unwrap(), "a");
        assert!(!to.join("subagents").exists());
        remove_companions(&to, &copied);
        assert!(!to.exists());
        fs::create_dir_all(to.join("tool-results")).unwrap();
        fs::write(to.join("tool-results/b.txt"), "theirs").unwrap();
        fs::write(from.join("tool-results/b.txt"), "b").unwrap();
        let paths = ["tool-results/a.txt", "tool-results/b.txt"];
        assert!(companions(&from, &to, paths.into_iter()).is_err());
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
        // By the client's own function: Math.abs(hash).toString(36).
        assert_eq!(&name[200..], "-uwz0zt");
        assert_eq!((base36(0), base36(35), base36(36)), ("0".into(), "z".into(), "10".into()));
    }
}
