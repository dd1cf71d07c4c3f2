//! `OpenClaw`'s lock of a session file (up to 2026.7.1): `<real folder>/<name>.lock` exists and
//! names the holder while the lock is held. Creating, judging stale and releasing follow its
//! `session-write-lock`.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use serde_json::Value;

use super::Refused;
use base::clock::{self, Time};
use base::new_file::NewFile;
use base::process;

/// A lock older than this is stale, unless its holder is known to be alive.
const STALE: Duration = Duration::from_secs(30 * 60);

/// Bytes read of a lock; it holds a few hundred.
const LONGEST: u64 = 64 * 1024;

/// The content of our own lock.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    pid: u32,
    created_at: String,
    /// It differs for a later process with the same pid. On macOS, `OpenClaw` ignores it.
    #[serde(rename = "starttime", skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
}

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct GatewayLock {
    path: PathBuf,
    said: Vec<u8>,
}

impl GatewayLock {
    /// The path of a session file's lock.
    ///
    /// # Errors
    /// The folder does not exist.
    pub fn lock_path(session: &Path) -> io::Result<PathBuf> {
        let session = std::path::absolute(session)?;
        let folder = session.parent().map_or_else(|| Ok(session.clone()), fs::canonicalize)?;
        let mut name = session.file_name().unwrap_or_default().to_owned();
        name.push(".lock");
        Ok(folder.join(name))
    }

    /// Takes the lock of a session file; waits up to `patience`. Removes a stale lock first.
    ///
    /// # Errors
    /// [`Refused::Locked`] if another process kept it that long; I/O errors.
    pub fn acquire(session: &Path, patience: Duration) -> Result<Self, Refused> {
        let path = Self::lock_path(session)?;
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
                    Some(other) => other.describe(&path),
                    // A broken link, or a lock that comes and goes.
                    None => {
                        format!(
                            "the lock {} exists but cannot be read. Try again; if no program uses the session, remove the lock",
                            path.display()
                        )
                    }
                }));
            }
            std::thread::sleep(
                Duration::from_millis(50 * attempt).min(left).min(Duration::from_secs(1)),
            );
        }
    }

    /// Creates the lock with its whole content, so that nobody finds it empty; `None` if there is
    /// one.
    fn make(path: &Path) -> io::Result<Option<Self>> {
        let me = std::process::id();
        let created_at = clock::now().to_rfc3339_opts(SecondsFormat::Millis, true);
        let said = Said { pid: me, created_at, start: process::start_time(me) };
        let said = serde_json::to_vec_pretty(&said).map_err(io::Error::from)?;
        let written = NewFile::begin(path).and_then(|mut file| {
            file.write_all(&said)?;
            // Writing worked, only linking to the name failed.
            file.finish().map_err(|e| match e.kind() {
                io::ErrorKind::PermissionDenied => io::Error::new(io::ErrorKind::Unsupported, e),
                _ => e,
            })
        });
        match written {
            Ok(_) => Ok(Some(Self { path: path.to_owned(), said })),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(e) => Err(super::with_path(path, &e)),
        }
    }

    /// Whether it is still ours: others take over a lock held for half an hour.
    pub fn is_ours(&self) -> bool {
        Other::of(&self.path).is_ok_and(|there| there.is_some_and(|lock| lock.bytes == self.said))
    }
}

impl Drop for GatewayLock {
    fn drop(&mut self) {
        if self.is_ours() {
            // A leftover is stale as soon as this process is gone.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// An existing lock.
#[derive(Debug)]
struct Other {
    /// `None` if it cannot be read: then only its age counts.
    file: Option<File>,
    number: (u64, u64),
    bytes: Vec<u8>,
    pid: Option<u64>,
    start: Option<u64>,
    created: Option<Time>,
    modified: Option<Time>,
}

impl Other {
    /// `None` if it is gone.
    fn of(path: &Path) -> io::Result<Option<Self>> {
        let mut options = fs::OpenOptions::new();
        std::os::unix::fs::OpenOptionsExt::custom_flags(options.read(true), base::atomic::NO_WAIT);
        let gone = |e: &io::Error| e.kind() == io::ErrorKind::NotFound;
        let (file, meta) = match options.open(path) {
            Ok(file) => {
                let meta = file.metadata().map_err(|e| super::with_path(path, &e))?;
                (Some(file), meta)
            }
            Err(e) if gone(&e) => return Ok(None),
            Err(_) => match fs::metadata(path) {
                Ok(meta) => (None, meta),
                Err(e) if gone(&e) => return Ok(None),
                Err(e) => return Err(super::with_path(path, &e)),
            },
        };
        let mut bytes = Vec::new();
        if let Some(file) = file.as_ref().filter(|_| meta.is_file()) {
            file.take(LONGEST).read_to_end(&mut bytes).map_err(|e| super::with_path(path, &e))?;
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

    /// Stale by `OpenClaw`'s rules, with an exception that 2026.7.1 makes too: a lock whose holder
    /// is known to be alive is never taken over, however old it is.
    fn is_stale(&self, now: Time) -> bool {
        let old = |since: Time| (now - since).to_std().is_ok_and(|age| age > STALE);
        let too_old = self.created.is_some_and(old);
        let Some(pid) = self.pid else {
            return too_old || self.modified.is_some_and(old);
        };
        let Ok(pid) = u32::try_from(pid) else { return true };
        let Some(started) = process::start_time(pid) else { return true };
        match self.start {
            Some(start) if start != started => true,
            Some(_) => false,
            // Ours have a start time; one without is of an earlier process with our pid.
            None if pid == std::process::id() => true,
            None => too_old || self.created.is_none() && self.modified.is_some_and(old),
        }
    }

    /// Removes it, unless it was replaced; `false` if another process is about to remove it.
    fn remove(&self, path: &Path) -> io::Result<bool> {
        // If two find it stale, the second must not remove what the first has made since.
        if self.file.as_ref().is_some_and(|file| file.try_lock().is_err()) {
            return Ok(false);
        }
        if fs::metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == self.number) {
            match fs::remove_file(path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(super::with_path(path, &e));
                }
                _ => {}
            }
        }
        Ok(true)
    }

    fn describe(&self, path: &Path) -> String {
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

/// A whole number from 0 on, also written as `7.0`, as JavaScript accepts it.
fn whole(value: &Value) -> Option<u64> {
    let float = || value.as_f64().filter(|n| n.fract() == 0.0 && *n >= 0.0 && *n < 2f64.powi(53));
    value.as_u64().or_else(|| float().map(|n| n as u64))
}

#[cfg(test)]
mod tests;
