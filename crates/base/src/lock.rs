//! Advisory locks on sidecar files, held while the [`Lock`] lives. The lock file is never removed:
//! a process that waits for a removed file gets a lock nobody else sees. Only the store's `gc`
//! removes that of an empty folder, so check such a lock with `Lock::is_valid_for`.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use fs2::FileExt;

use super::atomic::NO_WAIT;

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
    /// Whether this is still the lock of `path`. If the file was removed meanwhile, nobody else
    /// respects the lock.
    pub fn is_valid_for(&self, path: &Path) -> bool {
        let number = |meta: std::fs::Metadata| (meta.dev(), meta.ino());
        let held = self.0.metadata().map(number);
        std::fs::metadata(path).map(number).is_ok_and(|there| held.is_ok_and(|held| held == there))
    }
}

/// Takes the lock, and waits at most `patience` for it.
///
/// # Errors
/// `WouldBlock` if another process held it that long.
pub fn acquire(path: &Path, patience: Duration) -> io::Result<Lock> {
    take(path, patience, FileExt::try_lock_exclusive)
}

/// Takes the lock shared, and waits at most `patience` for it. Others may share it, but nobody can
/// hold it alone.
pub fn share(path: &Path, patience: Duration) -> io::Result<Lock> {
    take(path, patience, FileExt::try_lock_shared)
}

fn take(path: &Path, patience: Duration, lock: fn(&File) -> io::Result<()>) -> io::Result<Lock> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(NO_WAIT);
    let file = options.open(path)?;
    let deadline = Instant::now() + patience;
    let mut pause = Duration::from_millis(1);
    loop {
        match lock(&file) {
            Ok(()) => return Ok(Lock(file)),
            Err(e) if e.kind() != io::ErrorKind::WouldBlock => return Err(e),
            Err(e) if Instant::now() >= deadline => return Err(e),
            Err(_) => {
                std::thread::sleep(pause);
                // After a long wait the holder is stuck, so retry less often.
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
        assert!(again.is_valid_for(&path));
        std::fs::remove_file(&path).unwrap();
        assert!(!again.is_valid_for(&path));
        let other = acquire(&path, Duration::ZERO).unwrap();
        assert!(other.is_valid_for(&path) && !again.is_valid_for(&path));
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
