//! Advisory locks on sidecar files, held while the guard lives. The lock file is
//! never removed: whoever waits on a removed one holds a lock nobody else sees (the store's
//! `gc` takes out that of an empty folder; who locks such a folder asks [`Lock::is_of`]).
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use fs2::FileExt;
use rustix::fs::{Mode, OFlags};

use super::beneath;

/// A held lock; released on drop, and by the kernel when the process ends.
#[derive(Debug)]
pub struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file releases it as well.
        let _ = FileExt::unlock(&self.0);
    }
}

impl Lock {
    /// Whether it is the lock of this path still: a file that was removed meanwhile is
    /// nobody else's lock.
    pub fn is_of(&self, path: &Path) -> bool {
        let number = |meta: std::fs::Metadata| (meta.dev(), meta.ino());
        let held = self.0.metadata().map(number);
        std::fs::metadata(path).map(number).is_ok_and(|there| held.is_ok_and(|held| held == there))
    }
}

/// Takes the lock within `patience`.
///
/// # Errors
/// `WouldBlock` when another process kept it that long; otherwise what the system says.
pub fn acquire(path: &Path, patience: Duration) -> io::Result<Lock> {
    take(path, patience, FileExt::try_lock_exclusive)
}

/// Takes the lock within `patience` as one of many, none of whom is alone with it.
///
/// # Errors
/// As [`acquire`].
pub fn share(path: &Path, patience: Duration) -> io::Result<Lock> {
    take(path, patience, FileExt::try_lock_shared)
}

fn take(path: &Path, patience: Duration, lock: fn(&File) -> io::Result<()>) -> io::Result<Lock> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NONBLOCK;
    let file = beneath::open(path, flags, Mode::from_raw_mode(0o600))?;
    let deadline = Instant::now() + patience;
    let mut pause = Duration::from_millis(1);
    loop {
        match lock(&file) {
            Ok(()) => return Ok(Lock(file)),
            Err(e) if e.kind() != io::ErrorKind::WouldBlock => return Err(e),
            Err(e) if Instant::now() >= deadline => return Err(e),
            Err(_) => {
                std::thread::sleep(pause);
                // Who waits long waits for somebody stuck: no use in asking a thousand times.
                pause = (pause * 2).min(Duration::from_millis(8));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_holder_waits_and_gives_up() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".lock");
        let held = acquire(&path, Duration::ZERO).unwrap();
        assert!(acquire(&path, Duration::from_millis(5)).is_err());
        drop(held);
        let again = acquire(&path, Duration::ZERO).unwrap();
        assert!(again.is_of(&path));
        std::fs::remove_file(&path).unwrap();
        assert!(!again.is_of(&path));
        let other = acquire(&path, Duration::ZERO).unwrap();
        assert!(other.is_of(&path) && !again.is_of(&path));
    }

    #[test]
    fn many_share_a_lock_and_nobody_is_alone_with_it_then() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".lock");
        let shared = [share(&path, Duration::ZERO).unwrap(), share(&path, Duration::ZERO).unwrap()];
        assert!(acquire(&path, Duration::from_millis(5)).is_err());
        drop(shared);
        let alone = acquire(&path, Duration::ZERO).unwrap();
        assert!(share(&path, Duration::from_millis(5)).is_err());
        drop(alone);
    }
}
