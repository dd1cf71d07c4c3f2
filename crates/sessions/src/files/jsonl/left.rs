//! The file that an edit replaced, kept under our own name while somebody may still write to it: a
//! process that had it open goes on there. Rows that came into it are appended to the new file
//! before it is removed. If an edit is killed, the next one finishes it.

mod rows;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use self::rows::{append, begun, missing};
use super::BUFFER;
use crate::files::{Refused, Stamp, holders, with_path};
use base::atomic;

/// The suffix of such a file's name.
const ENDS: &str = ".brain-guard-old";

/// If no holder is visible, no row may have come for this long: whoever was about to open the file
/// has it open by then.
const QUIET: Duration = Duration::from_millis(20);

/// The longest pause between two checks for holders.
const LONGEST: Duration = Duration::from_millis(200);

/// An old file next to the session: `.<session>.<bytes before>-<inode of the new>-<bytes of the
/// new>.brain-guard-old`.
#[derive(Debug, PartialEq, Eq)]
pub struct OldFile {
    pub(super) path: PathBuf,
    /// Bytes that the edit read: anything after them came late.
    from: u64,
    /// The new file, and its size when it replaced the old one.
    inode: u64,
    size: u64,
}

/// Where late rows are now.
#[derive(Debug, PartialEq, Eq)]
pub enum MoveOutcome {
    /// In the session.
    All,
    /// Still in the old file: rows that follow them came into the new one first.
    Behind {
        /// Where they belong in the new one.
        at: u64,
        rows: Vec<u8>,
    },
}

/// Why the old file has to stay.
#[derive(Debug)]
pub enum StayReason {
    /// A process has it open, or somebody who is not visible still writes to it.
    Held(Option<u32>),
    /// The session is a different file by now.
    Anew,
    /// The session no longer exists.
    Gone,
    /// An I/O error.
    Io(io::Error),
}

impl From<io::Error> for StayReason {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl OldFile {
    /// Gives the session's file a second name, before `new` takes the first one.
    ///
    /// # Errors
    /// [`Refused::Changed`] if it is a different file by now; a file system without hard links.
    pub fn create(real: &Path, stamp: Stamp, new: &Metadata) -> Result<Self, Refused> {
        let (from, inode, size) = (stamp.size, new.ino(), new.len());
        let mut name = std::ffi::OsString::from(".");
        name.push(real.file_name().unwrap_or_default());
        name.push(format!(".{from}-{inode}-{size}{ENDS}"));
        let left = Self { path: real.with_file_name(name), from, inode, size };
        fs::hard_link(real, &left.path).map_err(|e| link_error(real, &left.path, &e))?;
        let there = fs::metadata(&left.path).map_err(|e| with_path(&left.path, &e))?;
        if there.ino() != stamp.inode {
            left.remove()?;
            return Err(Refused::Changed(real.display().to_string()));
        }
        Ok(left)
    }

    /// The old files of a session.
    ///
    /// # Errors
    /// I/O errors.
    pub fn for_session(real: &Path) -> io::Result<Vec<Self>> {
        let all = Self::in_folder(real.parent().unwrap_or(Path::new("/")))?;
        Ok(all.into_iter().filter(|(session, _)| session == real).map(|(_, left)| left).collect())
    }

    /// The old files in a folder, with their sessions.
    ///
    /// # Errors
    /// I/O errors.
    pub fn in_folder(folder: &Path) -> io::Result<Vec<(PathBuf, Self)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).map_err(|e| with_path(folder, &e))? {
            let path = entry.map_err(|e| with_path(folder, &e))?.path();
            // A name of ours that is not text is of a session whose name is not text either.
            if let Some((session, left)) = Self::named(&path) {
                found.push((folder.join(session), left));
            }
        }
        found.sort_by(|(_, a), (_, b)| a.path.cmp(&b.path));
        Ok(found)
    }

    fn named(path: &Path) -> Option<(String, Self)> {
        let name = path.file_name()?.to_str()?.strip_suffix(ENDS)?.strip_prefix('.')?;
        let (session, numbers) = name.rsplit_once('.')?;
        let mut numbers = numbers.split('-').map(str::parse);
        let mut next = || numbers.next()?.ok();
        let (from, inode, size) = (next()?, next()?, next()?);
        Some((session.to_owned(), Self { path: path.to_path_buf(), from, inode, size }))
    }

    /// Appends late rows to the session until nobody writes to the old file any more; waits up to
    /// `patience`.
    ///
    /// # Errors
    /// Why it has to stay.
    pub fn carry(&self, real: &Path, patience: Duration) -> Result<MoveOutcome, StayReason> {
        let read = OpenOptions::new().read(true).custom_flags(atomic::NO_WAIT).open(&self.path);
        let old = match read {
            // Another process finished this edit.
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(MoveOutcome::All),
            other => other.map_err(|e| with_path(&self.path, &e))?,
        };
        let is = |meta: &Metadata| (meta.dev(), meta.ino());
        let meta = old.metadata()?;
        if fs::metadata(real).is_ok_and(|there| is(&there) == is(&meta)) {
            // The edit never replaced the file.
            return Ok(MoveOutcome::All);
        }
        let (deadline, mut pause) = (Instant::now() + patience, QUIET);
        let mut before = None;
        loop {
            let holder = holders::writers(real, &meta).first().copied();
            let size = old.metadata()?.len();
            let quiet = before == Some(size);
            if holder.is_none() && quiet {
                return self.append_missing(real, &old, size, true);
            }
            if !quiet {
                self.append_missing(real, &old, size, false)?;
            }
            before = Some(size);
            if Instant::now() >= deadline && (holder.is_some() || !quiet && pause > QUIET) {
                return Err(StayReason::Held(holder));
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST);
        }
    }

    /// Appends the rows that the session lacks; with `all`, also one that has no line break.
    fn append_missing(
        &self,
        real: &Path,
        old: &File,
        to: u64,
        all: bool,
    ) -> Result<MoveOutcome, StayReason> {
        let late = self.late(old, to, all).map_err(|e| with_path(&self.path, &e))?;
        if late.is_empty() {
            return Ok(MoveOutcome::All);
        }
        let mut options = OpenOptions::new();
        let new = match options.read(true).append(true).custom_flags(atomic::NO_WAIT).open(real) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(StayReason::Gone),
            other => other.map_err(|e| with_path(real, &e))?,
        };
        let meta = new.metadata()?;
        let ours = meta.ino() == self.inode && meta.len() >= self.size;
        let from = if ours { self.size } else { 0 };
        let (rows, at) = missing(&late, &new, from..meta.len()).map_err(|e| with_path(real, &e))?;
        if rows.is_empty() {
            return Ok(MoveOutcome::All);
        }
        if !ours || !meta.is_file() {
            return Err(StayReason::Anew);
        }
        if at < meta.len() {
            let begun = begun(&new, at..meta.len(), &rows).map_err(|e| with_path(real, &e))?;
            let Some(rest) = begun.and_then(|begun| rows.get(begun..)) else {
                return Ok(MoveOutcome::Behind { at, rows });
            };
            append(&new, meta.len(), rest).map_err(|e| with_path(real, &e))?;
            return Ok(MoveOutcome::All);
        }
        append(&new, at, &rows).map_err(|e| with_path(real, &e))?;
        Ok(MoveOutcome::All)
    }

    /// The whole rows that came late; with `all`, also an unfinished last one, with a line break
    /// added.
    fn late(&self, mut old: &File, to: u64, all: bool) -> io::Result<Vec<u8>> {
        let mut rows = Vec::new();
        old.seek(SeekFrom::Start(self.from))?;
        old.take(to.saturating_sub(self.from)).read_to_end(&mut rows)?;
        if !all {
            rows.truncate(memchr::memrchr(b'\n', &rows).map_or(0, |end| end + 1));
        } else if !rows.is_empty() && !rows.ends_with(b"\n") {
            rows.push(b'\n');
        }
        Ok(rows)
    }

    /// Removes the old file: the session has all of its rows.
    ///
    /// # Errors
    /// I/O errors.
    pub fn remove(&self) -> io::Result<()> {
        atomic::remove(&self.path).map_err(|e| with_path(&self.path, &e))
    }

    /// The message for the user.
    pub fn word(&self, real: &Path, why: &StayReason) -> String {
        let (file, old, from) = (real.display(), self.path.display(), self.from);
        match why {
            StayReason::Held(Some(pid)) => format!(
                "process {pid} opened {file} before brain-guard rewrote it, so its rows go into {old}. Once the process has ended, the next edit or `extract watch` copies them over"
            ),
            StayReason::Held(None) => format!(
                "a process still writes the {file} that brain-guard replaced, so its rows go into {old}. The next edit or `extract watch` copies them over"
            ),
            StayReason::Anew => format!(
                "another program rewrote {file}. It may lack rows that are in {old} from byte {from} on. Copy them over, then delete {old}"
            ),
            StayReason::Gone => format!(
                "{file} is gone. Rows that arrived while brain-guard rewrote it are in {old} from byte {from} on. Delete {old} if you do not need them"
            ),
            StayReason::Io(error) => format!(
                "{error}: rows that arrived while brain-guard rewrote {file} are in {old} from byte {from} on. The next edit or `extract watch` copies them over"
            ),
        }
    }
}

/// The refusal, if a file could not get `second` as another name.
pub fn link_error(real: &Path, second: &Path, why: &io::Error) -> Refused {
    match why.kind() {
        io::ErrorKind::NotFound => Refused::Changed(real.display().to_string()),
        io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied => {
            Refused::Unsupported(format!(
                "{} is unchanged: its file system does not allow a hard link to it ({why}), which an edit needs so that no row is lost",
                real.display()
            ))
        }
        _ => Refused::Io(with_path(second, why)),
    }
}
