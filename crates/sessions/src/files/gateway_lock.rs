//! `OpenClaw`'s lock of a session file (up to 2026.7.1): `<real folder>/<name>.lock`, which
//! exists while somebody holds it and says who. Made, judged stale and given back by the rules
//! of its `session-write-lock`.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chrono::{DateTime, SecondsFormat, Utc};
use fs2::FileExt;
use serde::Serialize;
use serde_json::Value;

use super::Refused;
use base::clock::{self, Time};
use base::new_file::NewFile;
use base::process;

/// Behind this age a lock is nobody's, whoever made it.
const STALE: Duration = Duration::from_secs(30 * 60);

/// What a lock says is some hundred bytes.
const LONGEST: u64 = 64 * 1024;

/// What our own lock says.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    pid: u32,
    created_at: String,
    /// Field 22 of `/proc/<pid>/stat`: another process that got the number later has another.
    #[serde(rename = "starttime", skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
}

/// A lock that is held, until it is dropped.
#[derive(Debug)]
pub struct GatewayLock {
    path: PathBuf,
    said: Vec<u8>,
}

impl GatewayLock {
    /// Where the lock of a session file is.
    ///
    /// # Errors
    /// A folder that is not there.
    pub fn place(session: &Path) -> io::Result<PathBuf> {
        let session = std::path::absolute(session)?;
        let folder = session.parent().map_or_else(|| Ok(session.clone()), fs::canonicalize)?;
        let mut name = session.file_name().unwrap_or_default().to_owned();
        name.push(".lock");
        Ok(folder.join(name))
    }

    /// Takes the lock of a session file within `patience`. One that is stale is removed first.
    ///
    /// # Errors
    /// [`Refused::Locked`] where another one kept it that long; what the system says.
    pub fn acquire(session: &Path, patience: Duration) -> Result<Self, Refused> {
        let path = Self::place(session)?;
        let began = Instant::now();
        let mut attempt = 0;
        loop {
            attempt += 1;
            if let Some(lock) = Self::make(&path)? {
                return Ok(lock);
            }
            let other = Other::of(&path)?;
            if let Some(other) = &other
                && other.is_stale(clock::now())
                && other.remove(&path)?
            {
                continue;
            }
            let left = patience.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Err(Refused::Locked(match other {
                    Some(other) => other.told(&path),
                    // Something that can't be followed, or one that comes and goes.
                    None => {
                        format!("{} can't be taken: it is there, and can't be read", path.display())
                    }
                }));
            }
            std::thread::sleep(
                Duration::from_millis(50 * attempt).min(left).min(Duration::from_secs(1)),
            );
        }
    }

    /// Puts it there with all that it says, so that nobody finds it empty; `None` where there
    /// is one.
    fn make(path: &Path) -> io::Result<Option<Self>> {
        let me = std::process::id();
        let created_at = clock::now().to_rfc3339_opts(SecondsFormat::Millis, true);
        let said = Said { pid: me, created_at, start: process::start(me) };
        let said = serde_json::to_vec_pretty(&said).map_err(io::Error::from)?;
        let written = NewFile::begin(path).and_then(|mut file| {
            file.write_all(&said)?;
            // It could be written: what it could not get is its name.
            file.finish().map_err(|e| match e.kind() {
                io::ErrorKind::PermissionDenied => io::Error::new(io::ErrorKind::Unsupported, e),
                _ => e,
            })
        });
        match written {
            Ok(_) => Ok(Some(Self { path: path.to_owned(), said })),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(e) => Err(super::told(path, &e)),
        }
    }

    /// Whether it is ours still: whoever holds one for half an hour loses it.
    pub fn is_ours(&self) -> bool {
        Other::of(&self.path).is_ok_and(|there| there.is_some_and(|lock| lock.bytes == self.said))
    }
}

impl Drop for GatewayLock {
    fn drop(&mut self) {
        if self.is_ours() {
            // Left behind it is stale as soon as this process is gone.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A lock that is there.
#[derive(Debug)]
struct Other {
    /// `None` where it can't be read: then only its age counts.
    file: Option<File>,
    number: (u64, u64),
    bytes: Vec<u8>,
    pid: Option<u64>,
    start: Option<u64>,
    created: Option<Time>,
    modified: Option<Time>,
}

impl Other {
    /// `None` where it is gone.
    fn of(path: &Path) -> io::Result<Option<Self>> {
        let mut options = fs::OpenOptions::new();
        std::os::unix::fs::OpenOptionsExt::custom_flags(options.read(true), base::atomic::NO_WAIT);
        let gone = |e: &io::Error| e.kind() == io::ErrorKind::NotFound;
        let (file, meta) = match options.open(path) {
            Ok(file) => {
                let meta = file.metadata().map_err(|e| super::told(path, &e))?;
                (Some(file), meta)
            }
            Err(e) if gone(&e) => return Ok(None),
            Err(_) => match fs::metadata(path) {
                Ok(meta) => (None, meta),
                Err(e) if gone(&e) => return Ok(None),
                Err(e) => return Err(super::told(path, &e)),
            },
        };
        let mut bytes = Vec::new();
        if let Some(file) = file.as_ref().filter(|_| meta.is_file()) {
            file.take(LONGEST).read_to_end(&mut bytes).map_err(|e| super::told(path, &e))?;
        }
        let said: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let created =
            said["createdAt"].as_str().and_then(|at| DateTime::parse_from_rfc3339(at).ok());
        Ok(Some(Self {
            pid: whole(&said["pid"]).filter(|pid| *pid > 0),
            start: whole(&said["starttime"]),
            created: created.map(Time::from),
            modified: DateTime::<Utc>::from_timestamp(meta.mtime(), meta.mtime_nsec() as u32),
            number: (meta.dev(), meta.ino()),
            file,
            bytes,
        }))
    }

    /// What `OpenClaw` calls stale, with one exception, which 2026.7.1 makes too: what a process
    /// holds that is sure to live is not taken from it, however long that has been.
    fn is_stale(&self, now: Time) -> bool {
        let old = |since: Time| (now - since).to_std().is_ok_and(|age| age > STALE);
        let too_old = self.created.is_some_and(old);
        let Some(pid) = self.pid else {
            return too_old || self.modified.is_some_and(old);
        };
        let Ok(pid) = u32::try_from(pid) else { return true };
        let Some(started) = process::start(pid) else { return true };
        match self.start {
            Some(start) if start != started => true,
            Some(_) => false,
            // Ours say when we started: what doesn't is of one that had our number.
            None if pid == std::process::id() => true,
            None => too_old || self.created.is_none() && self.modified.is_some_and(old),
        }
    }

    /// Removes it, unless it is another one by now; `false` where somebody else is about to.
    fn remove(&self, path: &Path) -> io::Result<bool> {
        // Of two that found it stale the second must not take away what the first made since.
        if self.file.as_ref().is_some_and(|file| FileExt::try_lock_exclusive(file).is_err()) {
            return Ok(false);
        }
        if fs::metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == self.number) {
            match fs::remove_file(path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(super::told(path, &e));
                }
                _ => {}
            }
        }
        Ok(true)
    }

    fn told(&self, path: &Path) -> String {
        let who =
            self.pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
        let since = self.created.map_or_else(String::new, |at| {
            format!(" since {}", at.to_rfc3339_opts(SecondsFormat::Secs, true))
        });
        format!(
            "{} is held by {who}{since}: try again when its run has ended, or stop the gateway",
            path.display()
        )
    }
}

/// A whole number that is none below zero, also where it is written `7.0`, as JavaScript
/// takes it.
fn whole(value: &Value) -> Option<u64> {
    let float = || value.as_f64().filter(|n| n.fract() == 0.0 && *n >= 0.0 && *n < 2f64.powi(53));
    value.as_u64().or_else(|| float().map(|n| n as u64))
}

#[cfg(test)]
mod tests;
