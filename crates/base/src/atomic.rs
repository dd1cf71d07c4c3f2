//! Whole-file reads with a bound and whole-file replacement: a kill at any
//! instant leaves the old content or the new, never half of it.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};

use super::beneath::{self, Spot};

/// The largest file of ours that is read: larger is damage, not state.
pub const MAX_READ: u64 = 32 * 1024 * 1024;

/// The largest record of state: a session's, a token, a snapshot, a seat.
pub const MAX_RECORD: u64 = 2 * 1024 * 1024;

/// The largest file that is read below a project's `.brain-guard`, by what it is: a checkout
/// may bring one of any size, and a call waits for it.
fn bound(path: &Path) -> u64 {
    match path.file_name().and_then(|name| name.to_str()) {
        Some("job.json") => MAX_JOB,
        Some("settings.json") => 256 * 1024,
        Some("prompts.jsonl") => 8 * 1024 * 1024,
        _ => MAX_NOTES,
    }
}

/// Whether a file below a project's `.brain-guard` is of a size that is read.
///
/// # Errors
/// It is larger.
pub fn within_bound(path: &Path, size: u64) -> io::Result<()> {
    let most = bound(path);
    if size <= most {
        return Ok(());
    }
    let why = format!("is larger than {} KB ({} KB)", most / 1024, size.div_ceil(1024));
    Err(beneath::refuse(path, &why))
}

/// The largest compaction file, and the largest of any other file of a job.
pub const MAX_NOTES: u64 = 1024 * 1024;

/// The largest record of a job.
pub const MAX_JOB: u64 = 64 * 1024;

/// For opening what should be a file of ours: a FIFO in its place would be waited for without end.
pub const NO_WAIT: i32 = OFlags::NONBLOCK.bits() as i32;

/// Reads a file of at most [`MAX_READ`] bytes; `None` where there is none.
///
/// # Errors
/// What the system says, and `InvalidData` for anything too large or no regular file.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    read_within(path, MAX_READ)
}

/// [`read`] of a record, of at most [`MAX_RECORD`] bytes: a call waits for it.
///
/// # Errors
/// As [`read`].
pub fn read_record(path: &Path) -> io::Result<Option<Vec<u8>>> {
    read_within(path, MAX_RECORD)
}

fn read_within(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let Some((file, size)) = open(path)? else { return Ok(None) };
    if beneath::is_beneath(path) {
        within_bound(path, size)?;
    }
    if size > most {
        let why = format!("a file of {size} bytes; at most {most} are read");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let mut bytes = Vec::with_capacity(size as usize + 1);
    file.take(most).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// A regular file and its size.
fn open(path: &Path) -> io::Result<Option<(File, u64)>> {
    let file = match beneath::open(path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()) {
        Ok(file) => file,
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(e) => return Err(e),
    };
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(no_file(path));
    }
    Ok(Some((file, meta.len())))
}

/// The error for what should be a regular file.
fn no_file(path: &Path) -> io::Error {
    if beneath::is_beneath(path) {
        return beneath::refuse(path, "is not a regular file");
    }
    io::Error::new(io::ErrorKind::InvalidData, "not a regular file")
}

/// [`read`], as UTF-8; invalid bytes become U+FFFD, since people's editors write them.
///
/// # Errors
/// As [`read`].
pub fn read_text(path: &Path) -> io::Result<Option<String>> {
    Ok(read(path)?.map(text))
}

/// [`read_text`] of the first `most` bytes.
///
/// # Errors
/// As [`read`].
pub fn read_start(path: &Path, most: u64) -> io::Result<Option<String>> {
    let Some((file, size)) = open(path)? else { return Ok(None) };
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

/// What tells a file's content from another one's that may have its time and size: the
/// times of its modification and of its last change at all, in nanoseconds, its size and
/// its number. Package managers and copies give files the time of others.
pub type Mark = (i64, i64, u64, u64);

/// A file's [`Mark`]; `None` where there is no file.
pub fn mark(path: &Path) -> Option<Mark> {
    let stat = beneath::stat(path).ok()?;
    if beneath::kind(&stat) != FileType::RegularFile {
        return None;
    }
    let modified = nanos(stat.st_mtime, stat.st_mtime_nsec as i64);
    let changed = nanos(stat.st_ctime, stat.st_ctime_nsec as i64);
    Some((modified, changed, stat.st_size as u64, stat.st_ino))
}

/// The [`Mark`] of a file by what the system says of it.
pub fn mark_of(meta: &fs::Metadata) -> Mark {
    let modified = nanos(meta.mtime(), meta.mtime_nsec());
    (modified, nanos(meta.ctime(), meta.ctime_nsec()), meta.len(), meta.ino())
}

fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos)
}

/// Creates a folder and its parents, private to the user.
///
/// # Errors
/// What the system says.
pub fn create_private_dir(dir: &Path) -> io::Result<()> {
    beneath::create_dirs(dir, 0o700)
}

/// Replaces `path` by `bytes`: temporary file beside it, synced, renamed over it.
/// A symlink is followed, so that the file it names is replaced and the link stays; below a
/// project's `.brain-guard` it is refused.
///
/// # Errors
/// What the system says; the old content is still there then.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, true)
}

/// [`write()`] without waiting for the disk: for state that may be lost with the
/// machine but must never be torn. Saves the hook path an `fsync`.
///
/// # Errors
/// As [`write()`].
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, false)
}

fn replace(path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    let beneath = beneath::is_beneath(path);
    let real = if beneath { None } else { fs::canonicalize(path).ok() };
    let target = real.as_deref().unwrap_or(path);
    let spot = Spot::of(target)?;
    let mode = match spot.stat()? {
        None => 0o600,
        Some(stat) => match beneath::kind(&stat) {
            FileType::RegularFile => stat.st_mode & 0o777,
            FileType::Symlink if beneath => {
                return Err(beneath::refuse(path, "is a symbolic link"));
            }
            FileType::Symlink => 0o600,
            // A link may lead to a device: renamed over, it would be gone for the whole machine.
            _ => return Err(no_file(path)),
        },
    };
    let (temp, mut file) = temp_in(&spot, mode)?;
    let written = file.write_all(bytes).and_then(|()| if sync { file.sync_all() } else { Ok(()) });
    drop(file);
    let result = written.and_then(|()| spot.take(&temp));
    if result.is_err() {
        // The error that counts is the one above.
        let _ = spot.remove_beside(&temp);
    } else if sync {
        spot.sync();
    }
    result
}

/// A new file beside `target`, under a name that nobody asks for: `.NAME.PID.N.tmp`.
pub fn temp_beside(target: &Path, mode: u32) -> io::Result<(PathBuf, File)> {
    temp_in(&Spot::of(target)?, mode)
}

fn temp_in(spot: &Spot, mode: u32) -> io::Result<(PathBuf, File)> {
    let name = spot.file_name();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    for attempt in 0..100 {
        let temp = spot.beside(&format!(".{name}.{}.{attempt}.tmp", std::process::id()));
        match spot.open(&temp, flags, mode) {
            Ok(file) => return Ok((temp, file)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "no free name for a temporary file"))
}

/// Appends whole lines in one write, so that parallel processes don't mix theirs. A file of
/// a checkout that has a second name is copied first: that name may be another's file.
///
/// # Errors
/// What the system says.
pub fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::NONBLOCK;
    let open = || beneath::open(path, flags, Mode::from_raw_mode(0o600));
    let mut file = open()?;
    if beneath::is_beneath(path) {
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(no_file(path));
        }
        if meta.nlink() > 1 {
            write(path, &read(path)?.unwrap_or_default())?;
            file = open()?;
        }
    }
    file.write_all(bytes)
}

/// Creates an empty file that was not there; `false` where it was: a claim that
/// exactly one of several processes wins.
///
/// # Errors
/// What the system says.
pub fn claim(path: &Path) -> io::Result<bool> {
    let spot = Spot::of(path)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    match spot.open(Path::new(spot.name()), flags, 0o600) {
        Ok(_) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e),
    }
}

/// Removes a file; one that is gone already is no error.
///
/// # Errors
/// What the system says.
pub fn remove(path: &Path) -> io::Result<()> {
    let removed = Spot::of(path).and_then(|spot| spot.remove());
    match removed {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
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

    /// As root a rename over what a link leads to replaces a device for everybody.
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
