//! Writes a new session file: it appears under its name when complete, and never replaces another
//! file. It has no name before, so a kill leaves nothing behind.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

mod beside;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD};

use super::atomic::{self, Mark};
use super::disk;

pub use beside::{companion_folder, copy_companions, project_name, remove_companions};

/// A file that is being written.
#[derive(Debug)]
pub struct NewFile {
    file: BufWriter<File>,
    /// The temporary name, where the file system has no nameless files.
    temp: Option<PathBuf>,
    target: PathBuf,
    bytes: u64,
    /// Bytes that the disk was already asked to write.
    sent: u64,
    /// The mark of the file once it is synced.
    settled: Option<Mark>,
}

/// A complete file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its path.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Tells whether somebody has changed it since.
    pub mark: Mark,
}

const BUFFER: usize = 256 * 1024;

/// Bytes after which the disk is asked to start writing.
const PART: u64 = 8 * 1024 * 1024;

impl NewFile {
    /// Begins a file that will be `target`, and creates its folder if needed.
    ///
    /// # Errors
    /// `AlreadyExists` if something has that name.
    pub fn begin(target: &Path) -> io::Result<Self> {
        if fs::symlink_metadata(target).is_ok() {
            return Err(there(target));
        }
        let folder =
            target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        atomic::create_private_dir(folder)?;
        match disk::create_nameless(folder) {
            Ok(file) => Ok(Self::from_file(file, None, target)),
            Err(_) => Self::named(folder, target),
        }
    }

    /// Begins a file that has a temporary name until it is complete.
    fn named(folder: &Path, target: &Path) -> io::Result<Self> {
        // Skips a name that a killed process with our id left behind.
        let beside = folder.join(target.file_name().unwrap_or_default());
        let (temp, file) = atomic::create_temp_file(&beside, 0o600)?;
        Ok(Self::from_file(file, Some(temp), target))
    }

    fn from_file(file: File, temp: Option<PathBuf>, target: &Path) -> Self {
        let file = BufWriter::with_capacity(BUFFER, file);
        Self { file, temp, target: target.to_owned(), bytes: 0, sent: 0, settled: None }
    }

    /// Syncs the file; nothing may be written after that. The change time in the mark is 0, because
    /// getting its name changes the file.
    pub fn settle(&mut self) -> io::Result<Written> {
        let (modified, _, size, inode) = if let Some(mark) = self.settled {
            mark
        } else {
            self.file.flush()?;
            let file = self.file.get_ref();
            file.sync_all()?;
            *self.settled.insert(atomic::mark_of(&file.metadata()?))
        };
        Ok(self.written((modified, 0, size, inode)))
    }

    fn written(&self, mark: Mark) -> Written {
        Written { path: self.target.clone(), bytes: self.bytes, mark }
    }

    /// Syncs the file and gives it its name.
    ///
    /// # Errors
    /// `AlreadyExists` if something took the name meanwhile. On any error nothing is left behind.
    pub fn finish(mut self) -> io::Result<Written> {
        self.settle()?;
        let file = self.file.get_ref();
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
            // Some file systems refuse to sync a folder; the file has its name anyway.
            let _ = File::open(folder).and_then(|d| d.sync_all());
        }
        // Removed before the mark is taken, because this changes the file too.
        if let Some(temp) = self.temp.take() {
            let _ = fs::remove_file(temp);
        }
        let mark = atomic::mark_of(&self.file.get_ref().metadata()?);
        Ok(self.written(mark))
    }

    /// Asks the disk to start writing, so that little is left to wait for at the end. Nothing
    /// depends on it.
    fn send(&mut self) {
        let there = self.bytes - self.file.buffer().len() as u64;
        let part = there - self.sent;
        if part >= PART {
            disk::start_writing(self.file.get_ref(), self.sent, part);
            self.sent = there;
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        self.send();
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(temp) = &self.temp {
            // The file has its final name, or writing it failed or was given up.
            let _ = fs::remove_file(temp);
        }
    }
}

fn there(target: &Path) -> io::Error {
    let what = format!("{} exists already; choose another name", target.display());
    io::Error::new(io::ErrorKind::AlreadyExists, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_there_whole_or_not_at_all_and_never_in_anothers_place() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("new/a.jsonl");
        let mut fork = NewFile::begin(&target).unwrap();
        fork.write_all(b"one\n").unwrap();
        assert!(!target.exists());
        assert!(fs::read_dir(target.parent().unwrap()).unwrap().count() <= 1);
        let settled = fork.settle().unwrap();
        let written = fork.finish().unwrap();
        assert_eq!((written.bytes, fs::read(&target).unwrap()), (4, b"one\n".to_vec()));
        assert_eq!(Some(written.mark), atomic::mark(&target));
        assert_eq!(settled.mark, (written.mark.0, 0, written.mark.2, written.mark.3));
        assert_eq!(NewFile::begin(&target).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        // Somebody else takes the name first.
        let late = dir.path().join("new/b.jsonl");
        let mut fork = NewFile::begin(&late).unwrap();
        fork.write_all(b"two\n").unwrap();
        fs::write(&late, "theirs").unwrap();
        assert_eq!(fork.finish().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&late).unwrap(), "theirs");
        // Given up before `finish`.
        drop(NewFile::begin(&dir.path().join("new/c.jsonl")).unwrap());
        assert_eq!(fs::read_dir(dir.path().join("new")).unwrap().count(), 2);
    }

    #[test]
    fn a_file_system_without_nameless_files_will_do() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, target) = (dir.path(), dir.path().join("a.jsonl"));
        drop(NewFile::named(folder, &target).unwrap());
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
        let mut fork = NewFile::named(folder, &target).unwrap();
        fork.write_all(b"one\n").unwrap();
        assert!(!target.exists());
        let written = fork.finish().unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "one\n");
        assert_eq!(Some(written.mark), atomic::mark(&target), "its other name is gone");
        let late = NewFile::named(folder, &target).unwrap().finish();
        assert_eq!(late.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
        // The leftover of a killed process with this id does not block the name.
        for attempt in ["", ".0"] {
            let half = format!(".b.jsonl.{}{attempt}.tmp", std::process::id());
            fs::write(folder.join(half), "half").unwrap();
        }
        let target = folder.join("b.jsonl");
        NewFile::named(folder, &target).unwrap().finish().unwrap();
        assert!(target.exists());
    }

    #[test]
    fn files_are_the_users_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("x.jsonl");
        NewFile::begin(&target).unwrap().finish().unwrap();
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
