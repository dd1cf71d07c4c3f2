//! Bounded whole-file reads, and whole-file replacement: a kill at any instant leaves the old
//! content or the new, never half of it.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, RawMode};

use super::beneath::{self, Spot};

/// The largest file of ours that is read. A larger one is damaged.
pub const MAX_READ: u64 = 32 * 1024 * 1024;

/// The largest state record: a session, a token, a snapshot or a seat.
pub const MAX_RECORD: u64 = 2 * 1024 * 1024;

/// The read limit of a file below a project's `.brain-guard`, by its name. A checkout may bring
/// files of any size, and a tool call waits for the read.
fn bound(path: &Path) -> u64 {
    match path.file_name().and_then(|name| name.to_str()) {
        Some("job.json") => MAX_JOB,
        Some("settings.json") => 256 * 1024,
        Some("prompts.jsonl") => 8 * 1024 * 1024,
        _ => MAX_NOTES,
    }
}

/// Fails if a file below a project's `.brain-guard` exceeds its read limit.
pub fn check_size(path: &Path, size: u64) -> io::Result<()> {
    let most = bound(path);
    if size <= most {
        return Ok(());
    }
    let why = format!("is larger than {} KB ({} KB)", most / 1024, size.div_ceil(1024));
    Err(beneath::refuse(path, &why))
}

/// The read limit of the compaction file and of most other files of a job.
pub const MAX_NOTES: u64 = 1024 * 1024;

/// The read limit of a job's record.
pub const MAX_JOB: u64 = 64 * 1024;

/// Opens without blocking: a FIFO in place of our file would block forever.
pub const NO_WAIT: i32 = OFlags::NONBLOCK.bits() as i32;

/// Reads a file of at most [`MAX_READ`] bytes; `None` if there is none.
///
/// # Errors
/// `InvalidData` if it is too large or not a regular file; below `.brain-guard` a refusal.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    read_within(path, MAX_READ)
}

/// [`read`] with the limit [`MAX_RECORD`], because a tool call waits for it.
pub fn read_record(path: &Path) -> io::Result<Option<Vec<u8>>> {
    read_within(path, MAX_RECORD)
}

fn read_within(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let Some((file, size)) = open(path)? else { return Ok(None) };
    if beneath::is_beneath(path) {
        check_size(path, size)?;
    }
    if size > most {
        let why = format!("a file of {size} bytes; at most {most} are read");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let mut bytes = Vec::with_capacity(size as usize + 1);
    file.take(most).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Opens a regular file and returns its size too; `None` if there is none.
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

/// The error for anything that is not a regular file.
fn no_file(path: &Path) -> io::Error {
    if beneath::is_beneath(path) {
        return beneath::refuse(path, "is not a regular file");
    }
    io::Error::new(io::ErrorKind::InvalidData, "not a regular file")
}

/// [`read`] as UTF-8. Invalid bytes become U+FFFD, since people's editors write them.
pub fn read_text(path: &Path) -> io::Result<Option<String>> {
    Ok(read(path)?.map(text))
}

/// The first `most` bytes of a file as text.
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

/// Tells whether a file has changed: modification time, change time (both in nanoseconds), size and
/// inode number. Time and size are not enough: copies and package managers keep old times.
pub type Mark = (i64, i64, u64, u64);

/// A file's [`Mark`]; `None` where there is no file.
pub fn mark(path: &Path) -> Option<Mark> {
    let stat = beneath::stat(path).ok()?;
    if beneath::file_type(&stat) != FileType::RegularFile {
        return None;
    }
    let modified = nanos(stat.st_mtime, stat.st_mtime_nsec as i64);
    let changed = nanos(stat.st_ctime, stat.st_ctime_nsec as i64);
    Some((modified, changed, stat.st_size as u64, stat.st_ino))
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
    beneath::create_dirs(dir, 0o700)
}

/// Replaces the content of `path`: writes a temporary file next to it, syncs it and renames it. On
/// failure the old content stays. A symlink is followed and kept, but refused below a project's
/// `.brain-guard`.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, true)
}

/// [`write()`] without a sync, for state that may be lost in a crash but must never be torn. Saves
/// the hook an `fsync`.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, false)
}

fn replace(path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    let beneath = beneath::is_beneath(path);
    let real = if beneath { None } else { fs::canonicalize(path).ok() };
    let target = real.as_deref().unwrap_or(path);
    let spot = Spot::for_path(target)?;
    let mode = match spot.stat()? {
        None => 0o600,
        Some(stat) => match beneath::file_type(&stat) {
            FileType::RegularFile => stat.st_mode & 0o777,
            FileType::Symlink if beneath => {
                return Err(beneath::refuse(path, "is a symbolic link"));
            }
            FileType::Symlink => 0o600,
            // A link may lead to a device. A rename over it would remove the device for everybody.
            _ => return Err(no_file(path)),
        },
    };
    let (temp, mut file) = temp_in(&spot, mode)?;
    let written = file.write_all(bytes).and_then(|()| if sync { file.sync_all() } else { Ok(()) });
    drop(file);
    let result = written.and_then(|()| spot.replace_with(&temp));
    if result.is_err() {
        // The first error is the one to report.
        let _ = spot.remove_sibling(&temp);
    } else if sync {
        spot.sync();
    }
    result
}

/// Creates a temporary file next to `target`, named `.NAME.PID.N.tmp`.
pub fn create_temp_file(target: &Path, mode: RawMode) -> io::Result<(PathBuf, File)> {
    temp_in(&Spot::for_path(target)?, mode)
}

fn temp_in(spot: &Spot, mode: RawMode) -> io::Result<(PathBuf, File)> {
    let name = spot.file_name();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    for attempt in 0..100 {
        let temp = spot.sibling_path(&format!(".{name}.{}.{attempt}.tmp", std::process::id()));
        match spot.open(&temp, flags, mode) {
            Ok(file) => return Ok((temp, file)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "no free name for a temporary file"))
}

/// Appends whole lines in one write, so that parallel processes do not mix theirs. A hard link in a
/// checkout is copied first, because its other name may be a file of somebody else.
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

/// Creates an empty file; `false` if it exists. Exactly one of several processes wins the claim.
pub fn claim(path: &Path) -> io::Result<bool> {
    let spot = Spot::for_path(path)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    match spot.open(Path::new(spot.name()), flags, 0o600) {
        Ok(_) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e),
    }
}

/// Removes a file; a missing one is not an error.
pub fn remove(path: &Path) -> io::Result<()> {
    let removed = Spot::for_path(path).and_then(|spot| spot.remove());
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
