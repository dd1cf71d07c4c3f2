//! The file that is to replace a session: written next to it under a temporary name, with
//! everything that the old one has except its content.

use std::fs::{self, File, FileTimes, Metadata, Permissions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::XattrFlags;

use super::BUFFER;
use crate::files::{Change, Refused, kept, with_path};
use crate::line::Lines;
use base::atomic;
use base::process;

/// A leftover that nobody wrote to for this long is abandoned, even if its pid is in use.
const ABANDONED: Duration = Duration::from_secs(30 * 60);

/// Buffer for attribute names or a value: the kernel returns no more.
const ATTRIBUTES: usize = 64 * 1024;

/// A new file; removed when it is dropped.
#[derive(Debug)]
pub struct Temp {
    path: PathBuf,
    file: File,
    old: Metadata,
}

impl Temp {
    /// Creates an empty file next to `real`, with its permissions, owner and attributes.
    ///
    /// # Errors
    /// A folder that is not writable, an owner that cannot be kept.
    pub fn create_beside(real: &Path, source: &File) -> Result<Self, Refused> {
        sweep(real);
        let old = source.metadata().map_err(|e| with_path(real, &e))?;
        let (path, file) = atomic::create_temp_file(real, 0o600)
            .map_err(|e| explain_write_error(real, &old, &e))?;
        let temp = Self { path, file, old };
        temp.belong(real, source)?;
        Ok(temp)
    }

    fn belong(&self, real: &Path, source: &File) -> Result<(), Refused> {
        let (new, old) = (self.file.metadata().map_err(|e| with_path(&self.path, &e))?, &self.old);
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            std::os::unix::fs::fchown(&self.file, Some(old.uid()), Some(old.gid())).map_err(|e| {
                let what = format!(
                    "{} belongs to user {} and group {}, and the file that replaces it cannot be given to them ({e}). Run this as the owner",
                    real.display(), old.uid(), old.gid()
                );
                io::Error::new(e.kind(), what)
            })?;
        }
        attributes(source, &self.file).map_err(|e| with_path(&self.path, &e))?;
        let mode = Permissions::from_mode(old.mode() & 0o7777);
        Ok(self.file.set_permissions(mode).map_err(|e| with_path(&self.path, &e))?)
    }

    /// The metadata of the file so far.
    ///
    /// # Errors
    /// I/O errors.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata().map_err(|e| with_path(&self.path, &e))
    }

    /// Copies the first `size` bytes of the old file, with the replacements that `change` returns;
    /// `false` if no row changes, and then the copy is incomplete.
    ///
    /// # Errors
    /// A row would lose a part that it must keep; errors of `change`; I/O errors.
    pub fn rewrite(
        &self,
        real: &Path,
        mut source: &File,
        size: u64,
        change: Change<'_>,
    ) -> Result<bool, Refused> {
        let failed = |e: &io::Error| Refused::Io(explain_write_error(real, &self.old, e));
        source.seek(SeekFrom::Start(0)).map_err(|e| with_path(real, &e))?;
        let mut lines = Lines::new(BufReader::with_capacity(BUFFER, source.take(size)));
        let mut out = BufWriter::with_capacity(BUFFER, &self.file);
        let mut changed = false;
        while let Some(line) = lines.next().map_err(|e| with_path(real, &e))? {
            let number = line.number - 1;
            let Some(new) = change(number, line.bytes)? else {
                out.write_all(line.bytes).map_err(|e| failed(&e))?;
                continue;
            };
            if let Err(lost) = kept(line.bytes, &new) {
                let what = format!("{}: row {number} would lose {lost}", real.display());
                return Err(io::Error::new(io::ErrorKind::InvalidData, what).into());
            }
            changed |= new != line.bytes;
            out.write_all(&new).map_err(|e| failed(&e))?;
        }
        if changed {
            out.flush().map_err(|e| failed(&e))?;
            self.finish().map_err(|e| failed(&e))?;
        }
        Ok(changed)
    }

    /// Copies the first `size` bytes of the old file, with `rows` inserted at `at`.
    ///
    /// # Errors
    /// I/O errors.
    pub fn insert(
        &self,
        real: &Path,
        mut source: &File,
        size: u64,
        at: u64,
        rows: &[u8],
    ) -> Result<(), Refused> {
        let mut copy = || -> io::Result<()> {
            let mut out = &self.file;
            source.seek(SeekFrom::Start(0))?;
            io::copy(&mut source.take(at), &mut out)?;
            out.write_all(rows)?;
            source.seek(SeekFrom::Start(at))?;
            io::copy(&mut source.take(size.saturating_sub(at)), &mut out)?;
            self.finish()
        };
        copy().map_err(|e| Refused::Io(explain_write_error(real, &self.old, &e)))
    }

    /// Syncs it, with the old file's times: clients find the latest session by the time of its last
    /// row.
    fn finish(&self) -> io::Result<()> {
        let (modified, accessed) = (self.old.modified()?, self.old.accessed()?);
        self.file.set_times(FileTimes::new().set_modified(modified).set_accessed(accessed))?;
        self.file.sync_all()
    }

    /// Replaces the old file.
    ///
    /// # Errors
    /// I/O errors; the old file is then still there.
    pub fn put(mut self, real: &Path) -> io::Result<()> {
        fs::rename(&self.path, real).map_err(|e| with_path(real, &e))?;
        self.path = PathBuf::new();
        if let Some(folder) = real.parent() {
            // Some file systems refuse to sync a folder; the rename itself stands.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // Nobody reads it; the next edit removes a leftover.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Explains an I/O error while writing next to a session.
pub fn explain_write_error(real: &Path, old: &Metadata, error: &io::Error) -> io::Error {
    let (file, folder) = (real.display(), real.parent().unwrap_or(Path::new("/")).display());
    let what = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => format!(
            "{file} is unchanged: an edit writes a new file next to it, and no file can be created in {folder} ({error})"
        ),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            format!(
                "{file} is unchanged: an edit writes a new file next to it, which needs up to {} bytes in {folder} ({error})",
                old.len()
            )
        }
        _ => format!("{file} is unchanged: {error}"),
    };
    io::Error::new(error.kind(), what)
}

/// Copies the access list and the user's own attributes; the system sets its own attributes by
/// itself.
fn attributes(old: &File, new: &File) -> io::Result<()> {
    let mut names = vec![0; ATTRIBUTES];
    // A file system without attributes has none.
    let Ok(length) = rustix::fs::flistxattr(old, names.as_mut_slice()) else { return Ok(()) };
    let mut value = vec![0; ATTRIBUTES];
    for name in names[..length].split(|byte| *byte == 0) {
        if name.starts_with(b"user.") || name == b"system.posix_acl_access" {
            let length = rustix::fs::fgetxattr(old, name, value.as_mut_slice())?;
            rustix::fs::fsetxattr(new, name, &value[..length], XattrFlags::empty())?;
        }
    }
    Ok(())
}

/// Removes temporary files next to the session that killed processes left.
fn sweep(real: &Path) {
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else { return };
    let begins = format!(".{}.", name.to_string_lossy());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let middle = name.strip_prefix(&begins).and_then(|rest| rest.strip_suffix(".tmp"));
        let pid = middle.and_then(|m| m.split('.').find_map(|part| part.parse().ok()));
        if pid.is_some_and(|pid| process::start_time(pid).is_none() || abandoned(&entry)) {
            // A leftover does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// By the change time, which nobody can set: the modification time becomes the session's.
fn abandoned(entry: &fs::DirEntry) -> bool {
    let changed = |meta: Metadata| u64::try_from(meta.ctime()).ok().map(Duration::from_secs);
    let then = entry.metadata().ok().and_then(changed).map(|age| SystemTime::UNIX_EPOCH + age);
    then.and_then(|then| then.elapsed().ok()).is_some_and(|age| age > ABANDONED)
}
