//! The file that an edit replaced, kept under a name of ours for as long as somebody may write
//! it: who opened it before goes on there. What came into it goes behind the new one's rows,
//! and only then it is let go; an edit that is killed before is ended by the next one.

mod rows;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use self::rows::{append, begun, missing};
use super::BUFFER;
use crate::files::{Refused, Stamp, holders, told};
use base::atomic;

/// How such a file's name ends.
const ENDS: &str = ".brain-guard-old";

/// For so long nothing may have come, where nobody is seen to hold it: whoever was about to
/// open it has it open by then.
const QUIET: Duration = Duration::from_millis(20);

/// The longest pause between two looks at who holds it.
const LONGEST: Duration = Duration::from_millis(200);

/// An old file: `.<session>.<bytes before>-<inode of the new>-<bytes of the new>.brain-guard-old`
/// beside the session.
#[derive(Debug, PartialEq, Eq)]
pub struct Left {
    pub(super) path: PathBuf,
    /// Bytes that the edit read: what lies behind them came late.
    from: u64,
    /// The new file, and its bytes as it took the old one's place.
    inode: u64,
    size: u64,
}

/// Where rows that came late are now.
#[derive(Debug, PartialEq, Eq)]
pub enum Carried {
    /// In the session.
    All,
    /// Still in the old file: others came into the new one first, which follow upon them.
    Behind {
        /// Where they belong in the new one.
        at: u64,
        /// They.
        rows: Vec<u8>,
    },
}

/// Why the old file stays.
#[derive(Debug)]
pub enum Stays {
    /// A process has it open, or somebody unseen still writes it.
    Held(Option<u32>),
    /// The session is another file by now.
    Anew,
    /// There is no session any more.
    Gone,
    /// The system.
    Io(io::Error),
}

impl From<io::Error> for Stays {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Left {
    /// Gives the session's file a second name, before `new` takes its first one.
    ///
    /// # Errors
    /// [`Refused::Changed`] where it is another file by now; a file system on which a file has
    /// one name only.
    pub fn keep(real: &Path, stamp: Stamp, new: &Metadata) -> Result<Self, Refused> {
        let (from, inode, size) = (stamp.size, new.ino(), new.len());
        let mut name = std::ffi::OsString::from(".");
        name.push(real.file_name().unwrap_or_default());
        name.push(format!(".{from}-{inode}-{size}{ENDS}"));
        let left = Self { path: real.with_file_name(name), from, inode, size };
        fs::hard_link(real, &left.path).map_err(|e| one_name(real, &left.path, &e))?;
        let there = fs::metadata(&left.path).map_err(|e| told(&left.path, &e))?;
        if there.ino() != stamp.inode {
            left.let_go()?;
            return Err(Refused::Changed(real.display().to_string()));
        }
        Ok(left)
    }

    /// Those that lie beside a session.
    ///
    /// # Errors
    /// What the system says of the folder.
    pub fn of(real: &Path) -> io::Result<Vec<Self>> {
        let all = Self::within(real.parent().unwrap_or(Path::new("/")))?;
        Ok(all.into_iter().filter(|(session, _)| session == real).map(|(_, left)| left).collect())
    }

    /// Those in a folder, with their sessions.
    ///
    /// # Errors
    /// What the system says.
    pub fn within(folder: &Path) -> io::Result<Vec<(PathBuf, Self)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).map_err(|e| told(folder, &e))? {
            let path = entry.map_err(|e| told(folder, &e))?.path();
            // Names of ours that are no text are of sessions whose name is none.
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

    /// Brings what came late behind the session's rows, until nobody writes the old file any
    /// more, for as long as `patience` allows.
    ///
    /// # Errors
    /// Why it has to stay.
    pub fn carry(&self, real: &Path, patience: Duration) -> Result<Carried, Stays> {
        let read = OpenOptions::new().read(true).custom_flags(atomic::NO_WAIT).open(&self.path);
        let old = match read {
            // Another process ended this edit.
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Carried::All),
            other => other.map_err(|e| told(&self.path, &e))?,
        };
        let is = |meta: &Metadata| (meta.dev(), meta.ino());
        let meta = old.metadata()?;
        if fs::metadata(real).is_ok_and(|there| is(&there) == is(&meta)) {
            // The edit never came to replace it.
            return Ok(Carried::All);
        }
        let (deadline, mut pause) = (Instant::now() + patience, QUIET);
        let mut before = None;
        loop {
            let holder = holders::writers(real, &meta).first().copied();
            let size = old.metadata()?.len();
            let quiet = before == Some(size);
            if holder.is_none() && quiet {
                return self.bring(real, &old, size, true);
            }
            if !quiet {
                self.bring(real, &old, size, false)?;
            }
            before = Some(size);
            if Instant::now() >= deadline && (holder.is_some() || !quiet && pause > QUIET) {
                return Err(Stays::Held(holder));
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST);
        }
    }

    /// Appends the rows that are missing in the session; with `all`, also one that its writer
    /// never ended.
    fn bring(&self, real: &Path, old: &File, to: u64, all: bool) -> Result<Carried, Stays> {
        let late = self.late(old, to, all).map_err(|e| told(&self.path, &e))?;
        if late.is_empty() {
            return Ok(Carried::All);
        }
        let mut options = OpenOptions::new();
        let new = match options.read(true).append(true).custom_flags(atomic::NO_WAIT).open(real) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(Stays::Gone),
            other => other.map_err(|e| told(real, &e))?,
        };
        let meta = new.metadata()?;
        let ours = meta.ino() == self.inode && meta.len() >= self.size;
        let from = if ours { self.size } else { 0 };
        let (rows, at) = missing(&late, &new, from..meta.len()).map_err(|e| told(real, &e))?;
        if rows.is_empty() {
            return Ok(Carried::All);
        }
        if !ours || !meta.is_file() {
            return Err(Stays::Anew);
        }
        if at < meta.len() {
            let begun = begun(&new, at..meta.len(), &rows).map_err(|e| told(real, &e))?;
            let Some(rest) = begun.and_then(|begun| rows.get(begun..)) else {
                return Ok(Carried::Behind { at, rows });
            };
            append(&new, meta.len(), rest).map_err(|e| told(real, &e))?;
            return Ok(Carried::All);
        }
        append(&new, at, &rows).map_err(|e| told(real, &e))?;
        Ok(Carried::All)
    }

    /// The whole rows that came late; with `all`, also the last one's beginning, as a row.
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

    /// Removes its name: nothing that is in it is missing.
    ///
    /// # Errors
    /// What the system says.
    pub fn let_go(&self) -> io::Result<()> {
        atomic::remove(&self.path).map_err(|e| told(&self.path, &e))
    }

    /// What a user is told of it.
    pub fn word(&self, real: &Path, why: &Stays) -> String {
        let (file, old, from) = (real.display(), self.path.display(), self.from);
        match why {
            Stays::Held(Some(pid)) => format!(
                "process {pid} has had {file} open since before it was written anew: its rows go into {old}, and are brought over by the next edit or `extract watch` when it has ended"
            ),
            Stays::Held(None) => format!(
                "somebody writes the {file} of before it was written anew: the rows go into {old}, and are brought over by the next edit or `extract watch`"
            ),
            Stays::Anew => format!(
                "{file} was written anew by another program since: rows that it may lack lie in {old} from byte {from} on; put them where they belong, then remove that file"
            ),
            Stays::Gone => format!(
                "{file} is gone: rows that came as it was written anew lie in {old} from byte {from} on; that file can be removed"
            ),
            Stays::Io(error) => format!(
                "{error}: rows that came as {file} was written anew lie in {old} from byte {from} on, and are brought over by the next edit or `extract watch`"
            ),
        }
    }
}

/// What it means that a file could not get the name `second`, too.
pub fn one_name(real: &Path, second: &Path, why: &io::Error) -> Refused {
    match why.kind() {
        io::ErrorKind::NotFound => Refused::Changed(real.display().to_string()),
        io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied => {
            Refused::Unsupported(format!(
                "{} is as it was: no second name can be given to it there ({why}), under which rows would be kept that come as it is replaced",
                real.display()
            ))
        }
        _ => Refused::Io(told(second, why)),
    }
}
