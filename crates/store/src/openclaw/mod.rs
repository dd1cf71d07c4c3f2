//! Sessions in a database of OpenClaw (2026.7.2 and later). Read at any time, even while a gateway
//! writes; never written.
#![allow(clippy::disallowed_methods, reason = "it owns the databases")]

mod read;

use std::io;
use std::path::{Path, PathBuf};

use sessions::files::{Change, Edited, Refused, SessionFile, Stamp};

/// A session in a database of OpenClaw.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    agent: String,
    session: String,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub session: String,
    /// The number of its rows.
    pub rows: u64,
}

impl Database {
    /// Finds a session by its id or a unique prefix of it; without a name, the only session.
    ///
    /// # Errors
    /// `NotFound` if the file or session does not exist; `InvalidInput` if several match.
    pub fn find(path: &Path, name: Option<&str>) -> io::Result<Self> {
        let connection = read::open(path)?;
        let agent = read::agent(&connection, path)?;
        let mut all = read::sessions(&connection, path)?;
        if let Some(name) = name {
            let exact = all.iter().position(|one| one.session == name);
            match exact {
                Some(at) => all = vec![all.swap_remove(at)],
                None => all.retain(|one| one.session.starts_with(name)),
            }
        }
        let said = path.display();
        let why = match (&all[..], name) {
            ([one], _) => {
                let session = one.session.clone();
                return Ok(Self { path: path.to_owned(), agent, session });
            }
            ([], None) => (io::ErrorKind::NotFound, format!("{said} holds no session")),
            ([], Some(name)) => {
                if read::is_cold(&connection, path, name)? {
                    return Err(cold(path, name));
                }
                (io::ErrorKind::NotFound, format!("{said} holds no session {name}"))
            }
            (several, _) => {
                let some = several.iter().take(8).map(|one| one.session.as_str());
                let some = some.collect::<Vec<_>>().join(", ");
                let why = format!(
                    "{said} has {} matching sessions ({some}); choose one with {said}:ID",
                    several.len()
                );
                (io::ErrorKind::InvalidInput, why)
            }
        };
        Err(io::Error::new(why.0, why.1))
    }

    /// The sessions of a database, the last written first.
    pub fn sessions(path: &Path) -> io::Result<Vec<Listed>> {
        read::sessions(&read::open(path)?, path)
    }

    /// Its agent, according to the database.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Its id.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Its name in messages.
    fn said(&self) -> String {
        format!("{}:{}", self.path.display(), self.session)
    }

    fn error(&self, source: &rusqlite::Error) -> io::Error {
        failed(&self.path, source)
    }
}

impl SessionFile for Database {
    fn rows(&self, each: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<Stamp> {
        let connection = read::open(&self.path)?;
        // A snapshot, without what others write meanwhile.
        let view = connection.unchecked_transaction().map_err(|e| self.error(&e))?;
        let stamp = read::stamp(self, &view)?;
        if stamp.size == 0 && read::is_cold(&view, &self.path, &self.session)? {
            return Err(cold(&self.path, &self.session));
        }
        read::rows(self, &view, each)?;
        Ok(stamp)
    }

    fn edit(&self, _: Stamp, _: Change<'_>) -> Result<Edited, Refused> {
        Err(Refused::Unsupported(format!(
            "{} is in a database of OpenClaw, which is never written: in OpenClaw, the plugin masks what the model gets (docs/openclaw.md); `extract restore` without --in-place prints what is masked",
            self.said()
        )))
    }
}

/// An error of SQLite, with the file's path.
fn failed(path: &Path, source: &rusqlite::Error) -> io::Error {
    use rusqlite::ErrorCode::{
        DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase,
    };
    let said = path.display();
    match source.sqlite_error_code() {
        Some(DatabaseBusy | DatabaseLocked) => io::Error::new(
            io::ErrorKind::WouldBlock,
            format!("{said} is kept busy by another process; try again when that is done"),
        ),
        Some(NotADatabase) => {
            io::Error::new(io::ErrorKind::InvalidData, format!("{said} is no SQLite database"))
        }
        Some(DatabaseCorrupt) => io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{said} is damaged ({source}); `openclaw doctor` says more"),
        ),
        Some(DiskFull) => io::Error::new(io::ErrorKind::StorageFull, format!("{said}: {source}")),
        _ => io::Error::other(format!("{said}: {source}")),
    }
}

/// The error for rows that OpenClaw moved to cold storage.
fn cold(path: &Path, session: &str) -> io::Error {
    io::Error::other(format!(
        "{}: session {session} is in OpenClaw's cold storage; open it there once, then try again",
        path.display()
    ))
}

#[cfg(test)]
mod tests;
