//! Bounded whole-file reads, and whole-file replacement: a kill at any instant leaves the old
//! content or the new, never half of it.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// The largest file of ours that is read. A larger one is damaged.
pub const MAX_READ: u64 = 32 * 1024 * 1024;

/// The largest state record: a session, a token, a snapshot or a seat.
pub const MAX_RECORD: u64 = 2 * 1024 * 1024;

/// The largest compaction file that is read.
pub const MAX_NOTES: u64 = 1024 * 1024;

/// The largest record of a job that is read.
pub const MAX_JOB: u64 = 64 * 1024;

/// Opens without blocking: a FIFO in place of our file would block forever.
pub const NO_WAIT: i32 = OFlags::NONBLOCK.bits() as i32;

/// Reads a file of at most [`MAX_READ`] bytes; `None` if there is none.
///
/// # Errors
/// `InvalidData` if it is too large or not a regular file.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    read_within(path, MAX_READ)
}

/// [`read`] with the limit [`MAX_RECORD`], because a tool call waits for it.
pub fn read_record(path: &Path) -> io::Result<Option<Vec<u8>>> {
    read_within(path, MAX_RECORD)
}

/// [`read`] with a limit of its own.
pub fn read_within(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    read_whole(path, most, 0)
}

/// Reads a file that somebody else may have put there, as UTF-8. It must be a regular file and no
/// link, and may have at most `most` bytes.
///
/// # Errors
/// `InvalidData` if it is something else.
pub fn read_no_follow(path: &Path, most: u64) -> io::Result<Option<String>> {
    match read_whole(path, most, OFlags::NOFOLLOW.bits() as i32) {
        Err(e) if e.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            Err(invalid("a symbolic link is not read"))
        }
        read => Ok(read?.map(text)),
    }
}

fn read_whole(path: &Path, most: u64, flags: i32) -> io::Result<Option<Vec<u8>>> {
    let Some((file, size)) = open(path, flags)? else { return Ok(None) };
    if size > most {
        return Err(invalid(format!("a file of {size} bytes; at most {most} are read")));
    }
    let mut bytes = Vec::with_capacity(size as usize + 1);
    file.take(most).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn invalid(why: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why.into())
}

/// Opens a regular file and returns its size too; `None` if there is none.
fn open(path: &Path, flags: i32) -> io::Result<Option<(File, u64)>> {
    let file = match OpenOptions::new().read(true).custom_flags(NO_WAIT | flags).open(path) {
        Ok(file) => file,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(e) => return Err(e),
    };
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(invalid("not a regular file"));
    }
    Ok(Some((file, meta.len())))
}

/// [`read`] as UTF-8. Invalid bytes become U+FFFD, since people's editors write them.
pub fn read_text(path: &Path) -> io::Result<Option<String>> {
    Ok(read(path)?.map(text))
}

/// The first `most` bytes of a file as text.
pub fn read_start(path: &Path, most: u64) -> io::Result<Option<String>> {
    let Some((file, size)) = open(path, 0)? else { return Ok(None) };
    let mut bytes = Vec::with_capacity(size.min(most) as usize + 1);
    file.take(most).read_to_end(&mut bytes)?;
    Ok(Some(text(bytes)))
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// A file's modification time in nanoseconds and its size; `None` where there is no file.
pub fn stat(path: &Path) -> Option<(i64, u64)> {
    mark(path).map(|(modified, _, size, _)| (modified, size))
}

/// Tells whether a file has changed: modification time, change time (both in nanoseconds), size and
/// inode number. Time and size are not enough: copies and package managers keep old times.
pub type Mark = (i64, i64, u64, u64);

/// A file's [`Mark`]; `None` where there is no file.
pub fn mark(path: &Path) -> Option<Mark> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|meta| mark_of(&meta))
}

/// The [`Mark`] from metadata that was already read.
pub fn mark_of(meta: &fs::Metadata) -> Mark {
    let modified = nanos(meta.mtime(), meta.mtime_nsec());
    (modified, nanos(meta.ctime(), meta.ctime_nsec()), meta.len(), meta.ino())
}

fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos)
}

/// Creates a folder and its parents, private to the user.
pub fn create_private_dir(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Replaces the content of `path`: writes a temporary file next to it, syncs it and renames it. On
/// failure the old content stays. A symlink is followed and kept.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    sync_folder(&replace(path, bytes, true)?);
    Ok(())
}

/// [`write()`] for several files of one folder, in this order, which syncs the folder once.
pub fn write_in_folder(files: &[(PathBuf, &str)]) -> io::Result<()> {
    let mut last = None;
    for (path, text) in files {
        last = Some(replace(path, text.as_bytes(), true)?);
    }
    if let Some(path) = last {
        sync_folder(&path);
    }
    Ok(())
}

/// [`write()`] without a sync, for state that may be lost in a crash but must never be torn. Saves
/// the hook an `fsync`.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, false).map(drop)
}

/// Replaces a file and returns its path behind a symlink.
fn replace(path: &Path, bytes: &[u8], sync: bool) -> io::Result<PathBuf> {
    let real = if path.is_symlink() { fs::canonicalize(path).ok() } else { None };
    let target = real.unwrap_or_else(|| path.to_owned());
    let mode = match fs::symlink_metadata(&target) {
        Ok(meta) if meta.is_file() => meta.mode() & 0o777,
        Ok(meta) if !meta.is_symlink() => {
            // A link may lead to a device. A rename over it would remove the device for everybody.
            return Err(invalid("not a regular file"));
        }
        _ => 0o600,
    };
    let (temp, mut file) = create_temp_file(&target, mode)?;
    let written = file.write_all(bytes).and_then(|()| if sync { file.sync_all() } else { Ok(()) });
    drop(file);
    let result = written.and_then(|()| fs::rename(&temp, &target));
    if result.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temp);
    }
    result.map(|()| target)
}

/// Syncs the folder of a file, so that its name survives a crash.
fn sync_folder(file: &Path) {
    let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Some file systems refuse to sync a folder; the rename is done anyway.
    if let Ok(folder) = File::open(folder) {
        let _ = rustix::fs::fsync(folder);
    }
}

/// Creates a temporary file next to `target`, named `.NAME.PID.N.tmp`.
pub fn create_temp_file(target: &Path, mode: u32) -> io::Result<(PathBuf, File)> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    for attempt in 0..100 {
        let temp = target.with_file_name(format!(".{name}.{}.{attempt}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).mode(mode).open(&temp) {
            Ok(file) => return Ok((temp, file)),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "no free name for a temporary file"))
}

/// Appends whole lines in one write, so that parallel processes do not mix theirs.
pub fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).custom_flags(NO_WAIT);
    options.open(path)?.write_all(bytes)
}

/// Creates an empty file; `false` if it exists. Exactly one of several processes wins the claim.
pub fn claim(path: &Path) -> io::Result<bool> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(true),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e),
    }
}

/// Removes a file; a missing one is not an error.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_whole_keeps_mode_and_links_and_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real.md");
        let link = dir.path().join("link.md");
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write(&link, b"new").unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_folder_in_the_files_place_is_an_error_and_a_missing_file_is_none() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read(dir.path()).is_err());
        assert!(read(&dir.path().join("missing")).unwrap().is_none());
        assert!(write(dir.path(), b"x").is_err());
    }

    /// As root, a rename over the target of a link would replace a device for everybody.
    #[test]
    fn what_is_no_regular_file_is_not_waited_for_and_never_replaced() {
        use std::os::unix::fs::FileTypeExt;
        let dir = tempfile::tempdir().unwrap();
        let (pipe, link) = (dir.path().join("pipe"), dir.path().join("link"));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for path in [&pipe, &link] {
            assert!(read(path).is_err());
            assert!(append(path, b"x").is_err());
            assert!(write(path, b"x").is_err());
        }
        assert!(fs::metadata(&link).unwrap().file_type().is_fifo());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_claim_is_won_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("claim");
        assert!(claim(&path).unwrap());
        assert!(!claim(&path).unwrap());
    }
}
