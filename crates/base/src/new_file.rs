//! A new session's file: it appears whole under its name or not at all, and never in the
//! place of another. Nothing has a name before it is whole, so that a kill leaves nothing.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

mod beside;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::num::NonZeroU64;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, AtFlags, CWD, Mode, OFlags};

use super::atomic::{self, Mark};

pub use beside::{companion_folder, companions, project_name, remove_companions};

/// A file that is being written.
#[derive(Debug)]
pub struct NewFile {
    file: BufWriter<File>,
    /// Its name until it is whole, where the file system knows no file without one.
    temp: Option<PathBuf>,
    target: PathBuf,
    bytes: u64,
    /// Bytes that are on their way to the disk, as far as it takes them.
    sent: u64,
    /// What it is, once all of it is on the disk.
    settled: Option<Mark>,
}

/// A file that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Where.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// What tells whether somebody has touched it since.
    pub mark: Mark,
}

const BUFFER: usize = 256 * 1024;

/// Bytes that are sent to the disk at once.
const PART: u64 = 8 * 1024 * 1024;

impl NewFile {
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
        // A name that one killed with our number left behind is passed over.
        let beside = folder.join(target.file_name().unwrap_or_default());
        let (temp, file) = atomic::temp_beside(&beside, 0o600)?;
        Ok(Self::of(file, Some(temp), target))
    }

    fn of(file: File, temp: Option<PathBuf>, target: &Path) -> Self {
        let file = BufWriter::with_capacity(BUFFER, file);
        Self { file, temp, target: target.to_owned(), bytes: 0, sent: 0, settled: None }
    }

    /// Puts all that was written on the disk: nothing more can be. The mark has no time of the
    /// last change, 0, as getting its name changes the file.
    ///
    /// # Errors
    /// What the system says.
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

    /// Puts the file on the disk and gives it its name.
    ///
    /// # Errors
    /// `AlreadyExists` where something came to be there; what the system says. There is
    /// nothing then.
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
            // Some file systems refuse to sync a folder; the name itself stands.
            let _ = File::open(folder).and_then(|d| d.sync_all());
        }
        // Its other name goes first: that changes it, too.
        if let Some(temp) = self.temp.take() {
            let _ = fs::remove_file(temp);
        }
        let mark = atomic::mark_of(&self.file.get_ref().metadata()?);
        Ok(self.written(mark))
    }

    /// Has the disk begin with what was written while the rest is made, so that little is left
    /// to wait for at the end. Nothing waits for it, and nothing depends on it.
    fn send(&mut self) {
        let there = self.bytes - self.file.buffer().len() as u64;
        let part = there - self.sent;
        if part >= PART {
            let length = NonZeroU64::new(part);
            let _ = rustix::fs::fadvise(self.file.get_ref(), self.sent, length, Advice::DontNeed);
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
            // What it was for stands under its own name, or has failed with a word.
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
        // Somebody is faster.
        let late = dir.path().join("new/b.jsonl");
        let mut fork = NewFile::begin(&late).unwrap();
        fork.write_all(b"two\n").unwrap();
        fs::write(&late, "theirs").unwrap();
        assert_eq!(fork.finish().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&late).unwrap(), "theirs");
        // Given up.
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
        // What one with this number left as it was killed is in nobody's way.
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
