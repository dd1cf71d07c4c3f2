//! Sessions of pi, and of `OpenClaw` up to 2026.7.1: a file of rows. An edit writes a new file next
//! to it, under `OpenClaw`'s lock, and replaces it only if nobody wrote to it. pi has no lock and
//! appends by opening the file, so late rows in the old file are moved to the new one.

mod kind;
mod left;
mod temp;

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::left::{MoveOutcome, OldFile, StayReason};
use self::temp::Temp;
use super::gateway_lock::GatewayLock;
use super::{Change, Edited, Refused, SessionFile, Stamp, holders, idle, with_path};
use crate::line::Lines;
use base::atomic;
use base::clock;

/// Bytes per read and write: few enough that they are still in the CPU cache when they are used.
const BUFFER: usize = 256 * 1024;

/// How long the file must have been quiet.
const IDLE: Duration = Duration::from_secs(30);

/// How long to wait for the lock, as `OpenClaw` does, and for a process that opened the file before
/// it was replaced.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sessions with an unfinished edit, by their real paths, in the real folders of these files.
/// [`SessionFile::settle`] finishes them.
pub fn unfinished(files: &[PathBuf]) -> Vec<PathBuf> {
    let real = files.iter().filter_map(|file| fs::canonicalize(file).ok());
    let folders: BTreeSet<PathBuf> =
        real.filter_map(|file| file.parent().map(Path::to_owned)).collect();
    // Whoever reads the sessions of a folder reports that it cannot be listed.
    let found = folders.iter().flat_map(|folder| OldFile::in_folder(folder).unwrap_or_default());
    found.map(|(session, _)| session).collect::<BTreeSet<_>>().into_iter().collect()
}

/// A session's file.
#[derive(Debug, Clone)]
pub struct Jsonl {
    path: PathBuf,
    idle: Duration,
    patience: Duration,
}

impl Jsonl {
    /// The file at `path`, which may be a link.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), idle: IDLE, patience: PATIENCE }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets other times: how long the file must have been quiet, and how long to wait for the lock
    /// and for holders of the old file.
    pub fn with_times(mut self, idle: Duration, patience: Duration) -> Self {
        (self.idle, self.patience) = (idle, patience);
        self
    }

    fn open(&self) -> io::Result<(File, Stamp)> {
        let file = open(&self.path).map_err(|e| with_path(&self.path, &e))?;
        let stamp = Stamp::of(&file.metadata()?);
        Ok((file, stamp))
    }

    /// The metadata, if the file is as it was read.
    fn as_read(&self, real: &Path, stamp: Stamp) -> Result<Metadata, Refused> {
        let there = fs::metadata(real).map_err(|e| with_path(real, &e))?;
        if Stamp::of(&there) == stamp {
            Ok(there)
        } else {
            Err(Refused::Changed(self.path.display().to_string()))
        }
    }

    /// Checks that the file is as it was read, and that nobody is working in it.
    fn untouched(&self, real: &Path, stamp: Stamp) -> Result<(), Refused> {
        let there = self.as_read(real, stamp)?;
        let writer = || holders::writers(real, &there).first().copied();
        if let Some(pid) = holders::lasting_holder(writer) {
            return Err(Refused::Busy(format!(
                "{} is held open by process {pid}, which may write it: try again when that process has ended",
                self.path.display()
            )));
        }
        // A process that held it for a moment may have written.
        self.as_read(real, stamp)?;
        match idle::busy_reason(real, stamp, self.idle, clock::now())
            .map_err(|e| with_path(real, &e))?
        {
            Some(why) => Err(Refused::Busy(why)),
            None => Ok(()),
        }
    }

    /// Takes the lock of the given name and, if that is a link, of the real one.
    fn locks(&self, real: &Path, source: &File) -> Result<Vec<GatewayLock>, Refused> {
        let mut places = vec![self.path.as_path(), real];
        if GatewayLock::lock_path(&self.path)? == GatewayLock::lock_path(real)? {
            places.pop();
        }
        let take = |place| GatewayLock::acquire(place, self.patience);
        places.into_iter().map(take).collect::<Result<_, _>>().map_err(|refused| match refused {
            // A lock gets its name by a hard link.
            Refused::Io(e) if e.kind() == io::ErrorKind::Unsupported => {
                left::link_error(real, real, &e)
            }
            Refused::Io(e) => source.metadata().map_or_else(Refused::Io, |old| {
                Refused::Io(temp::explain_write_error(real, &old, &e))
            }),
            other => other,
        })
    }

    /// Replaces the file that has this stamp with a new one; the old one gets another name.
    fn swap(
        &self,
        real: &Path,
        stamp: Stamp,
        temp: Temp,
        locks: &[GatewayLock],
    ) -> Result<OldFile, Refused> {
        let left = OldFile::create(real, stamp, &temp.metadata()?)?;
        let is_free = || {
            self.untouched(real, stamp)?;
            if locks.iter().all(GatewayLock::is_ours) {
                return Ok(());
            }
            Err(Refused::Locked(format!(
                "the lock of {} was taken over by another process meanwhile",
                self.path.display()
            )))
        };
        if let Err(refused) = is_free().and_then(|()| Ok(temp.put(real)?)) {
            // A leftover is harmless: the next edit finds that it is the session itself.
            let _ = left.remove();
            return Err(refused);
        }
        Ok(left)
    }

    /// Moves late rows from an old file and removes it; or returns why that is impossible.
    fn finish(
        &self,
        real: &Path,
        left: &OldFile,
        locks: &[GatewayLock],
    ) -> Result<Result<(), StayReason>, Refused> {
        match left.carry(real, self.patience) {
            Err(stays) => return Ok(Err(stays)),
            Ok(MoveOutcome::All) => {}
            Ok(MoveOutcome::Behind { at, rows }) => {
                // Clients take the last row for the session's end, so these cannot be appended.
                let source = open(real).map_err(|e| with_path(real, &e))?;
                let stamp = Stamp::of(&source.metadata().map_err(|e| with_path(real, &e))?);
                self.untouched(real, stamp)?;
                let temp = Temp::create_beside(real, &source)?;
                temp.insert(real, &source, stamp.size, at, &rows)?;
                let next = self.swap(real, stamp, temp, locks)?;
                if let Ok(MoveOutcome::All) = next.carry(real, self.patience) {
                    next.remove()?;
                }
            }
        }
        Ok(left.remove().map_err(StayReason::Io))
    }

    /// Finishes earlier edits; returns what waiting cannot finish.
    fn finish_all(&self, real: &Path, locks: &[GatewayLock]) -> Result<Option<String>, Refused> {
        let mut words = Vec::new();
        for left in OldFile::for_session(real)? {
            match self.finish(real, &left, locks)? {
                Ok(()) => {}
                Err(held @ StayReason::Held(_)) => {
                    return Err(Refused::Busy(left.word(real, &held)));
                }
                Err(StayReason::Io(e)) => {
                    return Err(
                        io::Error::new(e.kind(), left.word(real, &StayReason::Io(e))).into()
                    );
                }
                Err(stays) => words.push(left.word(real, &stays)),
            }
        }
        Ok((!words.is_empty()).then(|| words.join("\n")))
    }
}

impl SessionFile for Jsonl {
    fn rows(&self, each: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<Stamp> {
        let (file, stamp) = self.open()?;
        // Rows appended meanwhile belong to the next read.
        let mut lines = Lines::new(BufReader::with_capacity(BUFFER, file.take(stamp.size)));
        while let Some(line) = lines.next()? {
            each(line.number - 1, line.bytes)?;
        }
        Ok(stamp)
    }

    fn edit(&self, stamp: Stamp, change: Change<'_>) -> Result<Edited, Refused> {
        let real = fs::canonicalize(&self.path).map_err(|e| with_path(&self.path, &e))?;
        let source = open(&real).map_err(|e| with_path(&real, &e))?;
        kind::supported(&self.path, &real, &source)?;
        // Refuse before anything is created in the folder.
        self.untouched(&real, stamp)?;
        let locks = self.locks(&real, &source)?;
        let before = self.finish_all(&real, &locks)?;
        self.untouched(&real, stamp)?;
        if Stamp::of(&source.metadata().map_err(|e| with_path(&real, &e))?) != stamp {
            return Err(Refused::Changed(self.path.display().to_string()));
        }
        let temp = Temp::create_beside(&real, &source)?;
        if !temp.rewrite(&real, &source, stamp.size, change)? {
            return Ok(Edited { left: before });
        }
        let left = self.swap(&real, stamp, temp, &locks)?;
        // The edit is done: rows that cannot be moved no longer refuse it.
        let word = match self.finish(&real, &left, &locks) {
            Ok(Ok(())) => None,
            Ok(Err(stays)) => Some(left.word(&real, &stays)),
            Err(refused) => Some(left.word(&real, &StayReason::Io(io::Error::other(refused)))),
        };
        let words: Vec<_> = before.into_iter().chain(word).collect();
        Ok(Edited { left: (!words.is_empty()).then(|| words.join("\n")) })
    }

    fn settle(&self) -> Result<Option<String>, Refused> {
        let real = match fs::canonicalize(&self.path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let left = OldFile::for_session(&self.path).unwrap_or_default();
                let words: Vec<_> =
                    left.iter().map(|l| l.word(&self.path, &StayReason::Gone)).collect();
                return Ok((!words.is_empty()).then(|| words.join("\n")));
            }
            other => other.map_err(|e| with_path(&self.path, &e))?,
        };
        if OldFile::for_session(&real)?.is_empty() {
            return Ok(None);
        }
        let source = open(&real).map_err(|e| with_path(&real, &e))?;
        kind::supported(&self.path, &real, &source)?;
        let locks = self.locks(&real, &source)?;
        self.finish_all(&real, &locks)
    }
}

fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(atomic::NO_WAIT).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file)
}

#[cfg(test)]
mod tests;
