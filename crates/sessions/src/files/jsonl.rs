//! Sessions of pi, and of `OpenClaw` up to 2026.7.1: a file of rows. It is written anew under
//! `OpenClaw`'s lock, beside itself, and only takes its place while nobody wrote it. pi knows
//! no lock, and appends by opening the file: rows that come into the old one after the last
//! look are brought over.

mod kind;
mod left;
mod temp;

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::left::{Carried, Left, Stays};
use self::temp::Temp;
use super::gateway_lock::GatewayLock;
use super::{Change, Edited, Refused, SessionFile, Stamp, holders, idle, told};
use crate::line::Lines;
use base::atomic;
use base::clock;

/// Bytes that are read and written at a time: what was read is still near when it is looked at.
const BUFFER: usize = 256 * 1024;

/// How long nothing may have been written.
const IDLE: Duration = Duration::from_secs(30);

/// How long the lock is waited for, as `OpenClaw` does; and a process that opened the file
/// before it was replaced.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sessions, by their real names, of which an edit was not ended, in the folders that these
/// files really lie in: [`SessionFile::settle`] is for them.
pub fn unfinished(files: &[PathBuf]) -> Vec<PathBuf> {
    let real = files.iter().filter_map(|file| fs::canonicalize(file).ok());
    let folders: BTreeSet<PathBuf> =
        real.filter_map(|file| file.parent().map(Path::to_owned)).collect();
    // A folder that can't be listed is told by who reads the sessions in it.
    let found = folders.iter().flat_map(|folder| Left::within(folder).unwrap_or_default());
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
    /// The file at `path`, which may be a link to it.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), idle: IDLE, patience: PATIENCE }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same with other times: how long nothing may have been written, and how long the
    /// lock, and who holds the old file, is waited for.
    pub fn with_times(mut self, idle: Duration, patience: Duration) -> Self {
        (self.idle, self.patience) = (idle, patience);
        self
    }

    fn open(&self) -> io::Result<(File, Stamp)> {
        let file = open(&self.path).map_err(|e| told(&self.path, &e))?;
        let stamp = Stamp::of(&file.metadata()?);
        Ok((file, stamp))
    }

    /// What it is, while it is as it was read.
    fn as_read(&self, real: &Path, stamp: Stamp) -> Result<Metadata, Refused> {
        let there = fs::metadata(real).map_err(|e| told(real, &e))?;
        if Stamp::of(&there) == stamp {
            Ok(there)
        } else {
            Err(Refused::Changed(self.path.display().to_string()))
        }
    }

    /// Whether it is as it was read, and nobody is at work in it.
    fn untouched(&self, real: &Path, stamp: Stamp) -> Result<(), Refused> {
        let there = self.as_read(real, stamp)?;
        let writer = || holders::writers(real, &there).first().copied();
        if let Some(pid) = holders::lasting(writer) {
            return Err(Refused::Busy(format!(
                "{} is held open by process {pid}, which may write it: try again when that has ended",
                self.path.display()
            )));
        }
        // One that held it for a moment may have written.
        self.as_read(real, stamp)?;
        match idle::why_not(real, stamp, self.idle, clock::now()).map_err(|e| told(real, &e))? {
            Some(why) => Err(Refused::Busy(why)),
            None => Ok(()),
        }
    }

    /// The file's lock, by the name it was given; and, where that is a link, by its own.
    fn locks(&self, real: &Path, source: &File) -> Result<Vec<GatewayLock>, Refused> {
        let mut places = vec![self.path.as_path(), real];
        if GatewayLock::place(&self.path)? == GatewayLock::place(real)? {
            places.pop();
        }
        let take = |place| GatewayLock::acquire(place, self.patience);
        places.into_iter().map(take).collect::<Result<_, _>>().map_err(|refused| match refused {
            // It gets its name as a second one.
            Refused::Io(e) if e.kind() == io::ErrorKind::Unsupported => {
                left::one_name(real, real, &e)
            }
            Refused::Io(e) => source
                .metadata()
                .map_or_else(Refused::Io, |old| Refused::Io(temp::why(real, &old, &e))),
            other => other,
        })
    }

    /// Puts a new file in the place of the one with this stamp, which gets another name.
    fn swap(
        &self,
        real: &Path,
        stamp: Stamp,
        temp: Temp,
        locks: &[GatewayLock],
    ) -> Result<Left, Refused> {
        let left = Left::keep(real, stamp, &temp.metadata()?)?;
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
            // What stays is no fault: the next edit finds it to be the session itself.
            let _ = left.let_go();
            return Err(refused);
        }
        Ok(left)
    }

    /// Brings over what came late into an old file, and lets go of it; or why that can't be.
    fn end(
        &self,
        real: &Path,
        left: &Left,
        locks: &[GatewayLock],
    ) -> Result<Result<(), Stays>, Refused> {
        match left.carry(real, self.patience) {
            Err(stays) => return Ok(Err(stays)),
            Ok(Carried::All) => {}
            Ok(Carried::Behind { at, rows }) => {
                // As a client knows the end of a session by its last row, they can't go there.
                let source = open(real).map_err(|e| told(real, &e))?;
                let stamp = Stamp::of(&source.metadata().map_err(|e| told(real, &e))?);
                self.untouched(real, stamp)?;
                let temp = Temp::beside(real, &source)?;
                temp.insert(real, &source, stamp.size, at, &rows)?;
                let next = self.swap(real, stamp, temp, locks)?;
                if let Ok(Carried::All) = next.carry(real, self.patience) {
                    next.let_go()?;
                }
            }
        }
        Ok(left.let_go().map_err(Stays::Io))
    }

    /// Ends what earlier edits left; gives what can't be ended by waiting.
    fn end_all(&self, real: &Path, locks: &[GatewayLock]) -> Result<Option<String>, Refused> {
        let mut words = Vec::new();
        for left in Left::of(real)? {
            match self.end(real, &left, locks)? {
                Ok(()) => {}
                Err(held @ Stays::Held(_)) => return Err(Refused::Busy(left.word(real, &held))),
                Err(Stays::Io(e)) => {
                    return Err(io::Error::new(e.kind(), left.word(real, &Stays::Io(e))).into());
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
        // What is appended meanwhile belongs to the next reading.
        let mut lines = Lines::new(BufReader::with_capacity(BUFFER, file.take(stamp.size)));
        while let Some(line) = lines.next()? {
            each(line.number - 1, line.bytes)?;
        }
        Ok(stamp)
    }

    fn edit(&self, stamp: Stamp, change: Change<'_>) -> Result<Edited, Refused> {
        let real = fs::canonicalize(&self.path).map_err(|e| told(&self.path, &e))?;
        let source = open(&real).map_err(|e| told(&real, &e))?;
        kind::supported(&self.path, &real, &source)?;
        // Nothing is left in a folder where there is nothing to be done.
        self.untouched(&real, stamp)?;
        let locks = self.locks(&real, &source)?;
        let before = self.end_all(&real, &locks)?;
        self.untouched(&real, stamp)?;
        if Stamp::of(&source.metadata().map_err(|e| told(&real, &e))?) != stamp {
            return Err(Refused::Changed(self.path.display().to_string()));
        }
        let temp = Temp::beside(&real, &source)?;
        if !temp.rewrite(&real, &source, stamp.size, change)? {
            return Ok(Edited { left: before });
        }
        let left = self.swap(&real, stamp, temp, &locks)?;
        // It is done: what keeps rows from being brought over is no refusal any more.
        let word = match self.end(&real, &left, &locks) {
            Ok(Ok(())) => None,
            Ok(Err(stays)) => Some(left.word(&real, &stays)),
            Err(refused) => Some(left.word(&real, &Stays::Io(io::Error::other(refused)))),
        };
        let words: Vec<_> = before.into_iter().chain(word).collect();
        Ok(Edited { left: (!words.is_empty()).then(|| words.join("\n")) })
    }

    fn settle(&self) -> Result<Option<String>, Refused> {
        let real = match fs::canonicalize(&self.path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let left = Left::of(&self.path).unwrap_or_default();
                let words: Vec<_> = left.iter().map(|l| l.word(&self.path, &Stays::Gone)).collect();
                return Ok((!words.is_empty()).then(|| words.join("\n")));
            }
            other => other.map_err(|e| told(&self.path, &e))?,
        };
        if Left::of(&real)?.is_empty() {
            return Ok(None);
        }
        let source = open(&real).map_err(|e| told(&real, &e))?;
        kind::supported(&self.path, &real, &source)?;
        let locks = self.locks(&real, &source)?;
        self.end_all(&real, &locks)
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
