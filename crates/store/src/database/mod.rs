//! Opening a database: its rights, journal, schema, and what it means when that fails.
#![allow(clippy::disallowed_methods, reason = "an edge: it opens databases")]

mod error;

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use base::atomic;

pub use self::error::Error;

/// How long a database that others keep busy is waited for: inscribers take turns at
/// `search.db`, each for as long as its rounds need.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the change to the write-ahead log is tried: SQLite doesn't wait for it itself.
const RETRY: Duration = Duration::from_millis(5);

/// How a database is laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schema {
    /// Its versions; the last is what this program writes. The number of steps that were taken
    /// is kept in the file (`user_version`).
    pub steps: &'static [&'static str],
    /// How it is written.
    pub journal: Journal,
}

/// How a database is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Journal {
    /// With a write-ahead log beside it: readers and a writer don't wait for each other. What was
    /// committed last may be lost with the power.
    Log,
    /// In one file, which can be renamed, copied and read where nothing can be written. What was
    /// committed is on the disk.
    File,
}

impl Schema {
    fn version(self) -> i64 {
        self.steps.len() as i64
    }
}

/// An open database, and its file for messages.
#[derive(Debug)]
pub(crate) struct Db {
    path: PathBuf,
    connection: Connection,
}

impl Db {
    /// Opens a database to write, and makes it where there is none: 0600 in folders of 0700.
    ///
    /// # Errors
    /// [`enum@Error`].
    pub fn make(path: &Path, schema: Schema) -> Result<Self, Error> {
        if !path.exists() {
            if let Some(folder) = path.parent() {
                atomic::create_private_dir(folder).map_err(|e| Error::io(folder, e))?;
            }
            // SQLite gives the files beside it the same rights.
            let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
            match made {
                Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(Error::io(path, e));
                }
                _ => {}
            }
        }
        let db = Self::connect(path)?;
        db.run(|c| match schema.journal {
            Journal::Log => {
                to_wal(c)?;
                c.pragma_update(None, "synchronous", "NORMAL")
            }
            Journal::File => c.pragma_update(None, "synchronous", "FULL"),
        })?;
        db.migrate(schema)?;
        Ok(db)
    }

    /// A database in memory; `path` is what it is called in messages.
    ///
    /// # Errors
    /// [`enum@Error`].
    pub fn in_memory(path: &Path, schema: Schema) -> Result<Self, Error> {
        let connection = Connection::open_in_memory().map_err(|e| Error::sqlite(path, e))?;
        let db = Self { path: path.to_owned(), connection };
        db.migrate(schema)?;
        Ok(db)
    }

    /// Opens a database to read; `None` where there is none. One that can't be written is read
    /// as it lies there.
    ///
    /// # Errors
    /// [`enum@Error`].
    pub fn read(path: &Path, schema: Schema) -> Result<Option<Self>, Error> {
        match fs::metadata(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io(path, e)),
            Ok(_) => {}
        }
        // Opened to write, for a reader that may not leaves its files behind.
        let db = Self::connect(path)?;
        let version = match db.version() {
            Err(Error::Sqlite { source, .. }) if unwritable(&source) && unlogged(path) => {
                let db = Self::immutable(path)?;
                let version = db.version()?;
                db.known(version, schema)?;
                return Ok(Some(db));
            }
            other => other?,
        };
        db.known(version, schema)?;
        if version < schema.version() {
            drop(db);
            return Self::make(path, schema).map(Some);
        }
        Ok(Some(db))
    }

    fn connect(path: &Path) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Self::with(path, path, flags)
    }

    fn immutable(path: &Path) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        Self::with(path, Path::new(&as_it_is(path)), flags)
    }

    fn with(path: &Path, name: &Path, flags: OpenFlags) -> Result<Self, Error> {
        let connection = Connection::open_with_flags(name, flags)
            .and_then(|c| c.busy_timeout(PATIENCE).map(|()| c))
            .map_err(|e| Error::sqlite(path, e))?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(Self { path: path.to_owned(), connection })
    }

    /// Lets statements name the tables of another database as `name.table`.
    ///
    /// # Errors
    /// [`enum@Error`].
    pub fn attach(&self, other: &Self, name: &str) -> Result<(), Error> {
        let immutable = other.run(|c| c.is_readonly("main"))?;
        let file = if immutable {
            as_it_is(&other.path)
        } else {
            other.path.to_string_lossy().into_owned()
        };
        self.run(|c| c.execute(&format!("ATTACH ?1 AS {name}"), [&file]).map(|_| ()))
    }

    /// Does something with the connection; errors name the file.
    ///
    /// # Errors
    /// [`enum@Error`].
    pub fn run<T>(&self, act: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        act(&self.connection).map_err(|e| Error::sqlite(&self.path, e))
    }

    /// Begins a transaction that writes; rolled back unless committed.
    ///
    /// # Errors
    /// [`enum@Error`].
    pub fn begin(&self) -> Result<Transaction<'_>, Error> {
        Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|e| Error::sqlite(&self.path, e))
    }

    /// Commits.
    ///
    /// # Errors
    /// [`enum@Error`].
    pub fn commit(&self, transaction: Transaction<'_>) -> Result<(), Error> {
        transaction.commit().map_err(|e| Error::sqlite(&self.path, e))
    }

    /// What its file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn version(&self) -> Result<i64, Error> {
        self.run(|c| c.pragma_query_value(None, "user_version", |row| row.get(0)))
    }

    fn known(&self, version: i64, schema: Schema) -> Result<(), Error> {
        let known = schema.version();
        if version > known {
            return Err(Error::Newer { path: self.path.clone(), found: version, known });
        }
        Ok(())
    }

    fn migrate(&self, schema: Schema) -> Result<(), Error> {
        let version = self.version()?;
        self.known(version, schema)?;
        if version == schema.version() {
            return Ok(());
        }
        let transaction = self.begin()?;
        // Somebody else may have been first.
        let version = self.version()?;
        self.known(version, schema)?;
        for step in schema.steps.iter().skip(version.max(0) as usize) {
            self.run(|c| c.execute_batch(step))?;
        }
        self.run(|c| c.pragma_update(None, "user_version", schema.version()))?;
        self.commit(transaction)
    }
}

/// Turns on the write-ahead log. Two processes that do so at once get "locked" without waiting.
fn to_wal(connection: &Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mode =
            connection.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
        let changed = match mode {
            Ok(mode) if mode == "wal" => return Ok(()),
            // A file system without shared memory keeps another mode, which works, too.
            Ok(_) => connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())),
            Err(e) => Err(e),
        };
        match changed {
            Err(e) if busy(&e) && Instant::now() < deadline => std::thread::sleep(RETRY),
            other => return other,
        }
    }
}

/// The name that has SQLite read a file as it lies there.
pub fn as_it_is(path: &Path) -> String {
    let mut name = String::from("file:");
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                name.push(char::from(byte));
            }
            _ => name.extend(['%', hex(byte >> 4), hex(byte & 15)]),
        }
    }
    name + "?immutable=1"
}

fn hex(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16).unwrap_or_default()
}

/// Whether nothing is left in the write-ahead log: then the file alone is the database.
pub fn unlogged(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).map_or(true, |meta| meta.len() == 0)
}

/// Whether a database could be read, but not written.
pub fn unwritable(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

/// Whether others keep the database busy.
fn busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
