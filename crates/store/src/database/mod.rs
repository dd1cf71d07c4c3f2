//! Opens SQLite databases: permissions, journal, schema, and errors.
#![allow(clippy::disallowed_methods, reason = "an edge: it opens databases")]

mod error;

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use base::atomic;

pub use self::error::Error;

/// How long to wait for a busy database: imports take turns at `search.db`, each for as long as its
/// rounds need.
const PATIENCE: Duration = Duration::from_secs(30);
/// The retry interval for the switch to the write-ahead log: SQLite itself does not wait there.
const RETRY: Duration = Duration::from_millis(5);

/// The format of all databases of the store, in each file's `user_version`. Another one is refused.
const FORMAT: i64 = 7;

/// The layout of a database.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schema {
    /// The statements that create its tables.
    pub tables: &'static str,
    pub journal: Journal,
}

/// How a database is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Journal {
    /// With a write-ahead log: readers and a writer do not block each other. A power failure may
    /// lose the last commits.
    Log,
    /// A single file that can be renamed, copied, and read from read-only disks. A commit is on
    /// disk.
    File,
}

/// An open database, with its path for messages.
#[derive(Debug)]
pub(crate) struct Db {
    path: PathBuf,
    connection: Connection,
}

impl Db {
    /// Opens a database to write, and creates it if needed: mode 0600 in folders of 0700.
    pub fn make(path: &Path, schema: Schema) -> Result<Self, Error> {
        if !path.exists() {
            if let Some(folder) = path.parent() {
                atomic::create_private_dir(folder).map_err(|e| Error::io(folder, e))?;
            }
            // SQLite gives its side files the same mode.
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
        db.create_tables(schema)?;
        Ok(db)
    }

    /// Opens a database to read; `None` if there is none. Without write access it is read as
    /// immutable.
    pub fn read(path: &Path, schema: Schema) -> Result<Option<Self>, Error> {
        match fs::metadata(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io(path, e)),
            Ok(_) => {}
        }
        // Opened read-write, because a read-only connection leaves its side files behind.
        let db = Self::connect(path)?;
        let has_tables = match db.has_tables() {
            Err(Error::Sqlite { source, .. }) if unwritable(&source) && unlogged(path) => {
                let db = Self::immutable(path)?;
                db.has_tables()?;
                return Ok(Some(db));
            }
            other => other?,
        };
        if !has_tables {
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
        Self::with(path, Path::new(&immutable_uri(path)), flags)
    }

    fn with(path: &Path, name: &Path, flags: OpenFlags) -> Result<Self, Error> {
        let connection = Connection::open_with_flags(name, flags)
            .and_then(|c| c.busy_timeout(PATIENCE).map(|()| c))
            .map_err(|e| Error::sqlite(path, e))?;
        connection.set_prepared_statement_cache_capacity(32);
        // Else a statement is prepared again whenever its values change.
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
            .map_err(|e| Error::sqlite(path, e))?;
        Ok(Self { path: path.to_owned(), connection })
    }

    /// Attaches another database, so that statements can name its tables as `name.table`.
    pub fn attach(&self, other: &Self, name: &str) -> Result<(), Error> {
        let immutable = other.run(|c| c.is_readonly("main"))?;
        let file = if immutable {
            immutable_uri(&other.path)
        } else {
            other.path.to_string_lossy().into_owned()
        };
        self.run(|c| c.execute(&format!("ATTACH ?1 AS {name}"), [&file]).map(|_| ()))
    }

    /// Runs a closure on the connection; errors name the file.
    pub fn run<T>(&self, act: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Error> {
        act(&self.connection).map_err(|e| Error::sqlite(&self.path, e))
    }

    /// Begins a write transaction; it rolls back unless committed.
    pub fn begin(&self) -> Result<Transaction<'_>, Error> {
        Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|e| Error::sqlite(&self.path, e))
    }

    pub fn commit(&self, transaction: Transaction<'_>) -> Result<(), Error> {
        transaction.commit().map_err(|e| Error::sqlite(&self.path, e))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file has tables of this program's format; an empty file has none.
    fn has_tables(&self) -> Result<bool, Error> {
        match self.run(|c| c.pragma_query_value(None, "user_version", |row| row.get(0)))? {
            0 => Ok(false),
            FORMAT => Ok(true),
            found => Err(Error::OtherFormat { path: self.path.clone(), found, known: FORMAT }),
        }
    }

    fn create_tables(&self, schema: Schema) -> Result<(), Error> {
        if self.has_tables()? {
            return Ok(());
        }
        let transaction = self.begin()?;
        // Another process may have created them first.
        if !self.has_tables()? {
            self.run(|c| c.execute_batch(schema.tables))?;
            self.run(|c| c.pragma_update(None, "user_version", FORMAT))?;
        }
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

/// The URI that makes SQLite read a file as immutable.
pub fn immutable_uri(path: &Path) -> String {
    const WRITTEN: AsciiSet = NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');
    format!("file:{}?immutable=1", utf8_percent_encode(&path.to_string_lossy(), &WRITTEN))
}

/// Whether the write-ahead log is empty: then the file alone is the database.
pub fn unlogged(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).map_or(true, |meta| meta.len() == 0)
}

/// Whether the database could be read, but not written.
pub fn unwritable(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

/// Whether another process holds the lock.
fn busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
