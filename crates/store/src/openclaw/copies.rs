//! Copies a database before it is written. A copy gets its final name only when it is complete,
//! since a torn copy would be worse than none. The last few stay for a while.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use chrono::NaiveDateTime;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, ffi};

use super::failed;
use base::clock::{self, Time};

/// What follows the database's name in the name of a copy.
const MARK: &str = ".brain-guard-";
/// The format of its time, which comes next.
const TIME: &str = "%Y%m%dT%H%M%S%.3fZ";
/// The suffix of an unfinished copy.
const PART: &str = ".part";
/// How many copies stay.
const KEPT: usize = 2;
/// Pages to copy at a time.
const PAGES: i32 = 4096;

/// The copy of a database; removed on drop unless kept.
#[derive(Debug)]
pub(super) struct Copied {
    path: PathBuf,
    keep: bool,
}

impl Copied {
    /// Copies a database that nobody else writes, and removes unfinished copies.
    pub fn make(database: &Path) -> io::Result<Self> {
        let path = beside(database, &format!("{MARK}{}", clock::now().format(TIME)));
        let unmade = |e: io::Error| {
            let why = format!("{}: no copy before the database is written: {e}", path.display());
            io::Error::new(e.kind(), why)
        };
        unfinished(database).map_err(unmade)?;
        if path.symlink_metadata().is_ok() {
            return Err(unmade(io::ErrorKind::AlreadyExists.into()));
        }
        let part = Self { path: beside(&path, PART), keep: false };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).open(&part.path).map_err(unmade)?;
        fill(database, &part.path).map_err(|e| unmade(failed(&part.path, &e)))?;
        File::open(&part.path).and_then(|file| file.sync_all()).map_err(unmade)?;
        fs::rename(&part.path, &path).map_err(unmade)?;
        if let Some(folder) = path.parent() {
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(unmade)?;
        }
        Ok(Self { path, keep: false })
    }

    /// Keeps the copy; returns its path.
    pub fn keep(mut self) -> PathBuf {
        self.keep = true;
        self.path.clone()
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        if !self.keep {
            // The database still has everything in it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn fill(database: &Path, copy: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let from = Connection::open_with_flags(database, flags)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut to = Connection::open_with_flags(copy, flags)?;
    let backup = Backup::new(&from, &mut to)?;
    loop {
        match backup.step(PAGES)? {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            // SQLite has waited already, for the five seconds that it does by itself.
            _ => {
                let busy = ffi::Error::new(ffi::SQLITE_BUSY);
                return Err(rusqlite::Error::SqliteFailure(busy, None));
            }
        }
    }
}

/// Removes all but the last copies; ignores failures.
pub(super) fn trim(database: &Path) {
    let all = all(database).unwrap_or_default();
    for (_, path) in all.iter().rev().skip(KEPT) {
        let _ = remove(path);
    }
}

/// Removes a copy, and the side files that a reader left.
fn remove(copy: &Path) -> io::Result<()> {
    fs::remove_file(copy)?;
    for end in ["-wal", "-shm"] {
        match fs::remove_file(beside(copy, end)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    Ok(())
}

/// Removes the copies of a database made before `older`, or with `dry_run` counts them. Returns
/// their number and bytes.
pub fn remove_older(database: &Path, older: Time, dry_run: bool) -> io::Result<(u64, u64)> {
    let mut gone = (0, 0);
    for (made, path) in all(database)? {
        if made >= older {
            continue;
        }
        let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", path.display()));
        let bytes = fs::symlink_metadata(&path).map_err(named)?.len();
        if !dry_run {
            remove(&path).map_err(named)?;
        }
        gone = (gone.0 + 1, gone.1 + bytes);
    }
    Ok(gone)
}

/// The copies of a database, oldest first.
fn all(database: &Path) -> io::Result<Vec<(Time, PathBuf)>> {
    let mut found = ours(database, |rest| {
        let made = NaiveDateTime::parse_from_str(rest, TIME).ok()?.and_utc();
        // The parser is lenient; other spellings of a time are not ours.
        (made.format(TIME).to_string() == rest).then_some(made)
    })?;
    found.sort();
    Ok(found)
}

/// Removes the unfinished copies of a killed process.
fn unfinished(database: &Path) -> io::Result<()> {
    let parts = ours(database, |rest| {
        let (time, behind) = rest.split_once(PART)?;
        NaiveDateTime::parse_from_str(time, TIME).ok()?;
        ["", "-journal", "-wal", "-shm"].contains(&behind).then_some(())
    })?;
    parts.iter().try_for_each(|((), path)| fs::remove_file(path))
}

/// This user's files whose names are the database's, our mark, and a rest that `is` accepts.
fn ours<T>(database: &Path, is: impl Fn(&str) -> Option<T>) -> io::Result<Vec<(T, PathBuf)>> {
    let mut begins = database.file_name().unwrap_or_default().to_owned();
    begins.push(MARK);
    let begins = begins.to_string_lossy();
    let folder = database.parent().unwrap_or(database);
    let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", folder.display()));
    let me = rustix::process::getuid().as_raw();
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(named)? {
        let entry = entry.map_err(named)?;
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(&*begins));
        let Some(of) = rest.and_then(&is) else { continue };
        if entry.metadata().is_ok_and(|meta| meta.is_file() && meta.uid() == me) {
            found.push((of, entry.path()));
        }
    }
    Ok(found)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_named_as_a_copy_goes() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("a.sqlite");
        let copies = ["20260220T100000.000Z", "20260221T100000.001Z", "20260222T100000.002Z"];
        let others = [
            "a.sqlite.brain-guard-20260220T100000Z",
            "a.sqlite.brain-guard-20260220T100000.000Z.old",
            "a.sqlite.brain-guard-mine",
            "b.sqlite.brain-guard-20260220T100000.000Z",
            "a.sqlite",
        ];
        for name in copies.map(|time| format!("a.sqlite{MARK}{time}")).iter().map(String::as_str) {
            fs::write(dir.path().join(name), "12345").unwrap();
        }
        for name in others {
            fs::write(dir.path().join(name), "").unwrap();
        }
        fs::create_dir(dir.path().join("a.sqlite.brain-guard-20260101T100000.000Z")).unwrap();
        let times = || {
            let all = all(&database).unwrap();
            all.into_iter().map(|(made, _)| made.format(TIME).to_string()).collect::<Vec<_>>()
        };
        assert_eq!(times(), copies);
        let older = "2026-02-21T10:00:00.001Z".parse().unwrap();
        assert_eq!(remove_older(&database, older, true).unwrap(), (1, 5));
        assert_eq!(times(), copies);
        trim(&database);
        assert_eq!(times(), copies[1..]);
        assert_eq!(remove_older(&database, older, false).unwrap(), (0, 0));
        let older = "2026-02-21T10:00:00.002Z".parse().unwrap();
        assert_eq!(remove_older(&database, older, false).unwrap(), (1, 5));
        assert_eq!(times(), copies[2..]);
        assert!(others.iter().all(|name| dir.path().join(name).exists()));
    }

    #[test]
    fn what_was_never_finished_goes() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("a.sqlite");
        Connection::open(&database).unwrap().execute_batch("CREATE TABLE t(x)").unwrap();
        let part = "a.sqlite.brain-guard-20260220T100000.000Z.part";
        for name in [part.to_owned(), format!("{part}-journal")] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        let other = dir.path().join(format!("{part}s"));
        fs::write(&other, "x").unwrap();
        let copy = Copied::make(&database).unwrap().keep();
        let mut names: Vec<PathBuf> =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        let mut expected = [database, copy.clone(), other];
        expected.sort();
        assert_eq!(names, expected);
        let table = "SELECT count(*) FROM sqlite_schema";
        let found = Connection::open(&copy).unwrap().query_row(table, [], |row| row.get(0));
        assert_eq!(found, Ok(1));
    }
}
