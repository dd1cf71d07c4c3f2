//! Opens block files. The first use of a session copies its packs, the old format, in one
//! transaction. The packs stay until `store drop-old`. Until this version writes the session, rows
//! that an older running program appends are copied, too.

use std::io;
use std::path::Path;

use rusqlite::OptionalExtension as _;

use super::file::{self, SCHEMA};
use super::packs;
use super::reader::Reader;
use super::root::Folder;
use super::writer::Writer;
use crate::database::Db;
use base::shown;

impl Reader {
    /// Opens a session's rows.
    ///
    /// # Errors
    /// `NotFound` if the store has none.
    pub fn open(folder: &Folder) -> io::Result<Self> {
        Self::open_file(&folder.blocks())
    }

    /// Opens the rows in a block file.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn open_file(path: &Path) -> io::Result<Self> {
        let none = || {
            let why = format!(
                "{}: this session is not in the store; import it with `brain-guard import PATH`",
                path.display()
            );
            io::Error::new(io::ErrorKind::NotFound, why)
        };
        read(path)?.map(Self::new).ok_or_else(none)
    }

    /// Opens a block file that itself has all packed rows; a copy in memory does not count.
    pub(super) fn copied(path: &Path) -> io::Result<Self> {
        Ok(Self::new(copied(path, &packs::pack_folder(path))?))
    }
}

impl Writer {
    /// Opens a block file to append to; the first row creates it.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::new(path, write(path)?)
    }
}

/// Identifies the blocks in a file among the session's editions, whatever the file's name. `None`
/// if it has no blocks or is unreadable.
pub fn identity(blocks: &Path) -> Option<u64> {
    read(blocks).ok()?.and_then(|db| file::identity(&db).ok()?)
}

/// Opens a block file to read; `None` if there is none. Copies packs into memory if the disk is
/// full or read-only.
fn read(path: &Path) -> io::Result<Option<Db>> {
    let old = packs::pack_folder(path);
    let known = Db::read(path, SCHEMA)?;
    let behind = match &known {
        Some(db) => lags(db, &old)?,
        None => old.is_dir(),
    };
    if !behind {
        return Ok(known);
    }
    match copied(path, &old) {
        Err(e) if is_unwritable(&e) => match known {
            // Only rows that an older program appended since are missing.
            Some(db) if taken(&db)? > Some(0) => Ok(Some(db)),
            _ => take_over(Db::in_memory(path, SCHEMA)?, &old).map(Some),
        },
        other => other.map(Some),
    }
}

/// Opens a block file to write; `None` if there is none yet. Packs are ignored from then on.
fn write(path: &Path) -> io::Result<Option<Db>> {
    let old = packs::pack_folder(path);
    if !old.is_dir() {
        return Ok(if path.exists() { Some(Db::make(path, SCHEMA)?) } else { None });
    }
    let db = copied(path, &old)?;
    db.run(|c| c.execute("UPDATE about SET packs = NULL", []))?;
    Ok(Some(db))
}

/// Opens the block file and copies what only the packs have.
fn copied(path: &Path, old: &Path) -> io::Result<Db> {
    let db = Db::make(path, SCHEMA)?;
    if !lags(&db, old)? {
        return Ok(db);
    }
    room(path, old)?;
    take_over(db, old)
}

fn take_over(db: Db, old: &Path) -> io::Result<Db> {
    let mut writer = Writer::begun(db)?;
    if let Some(from) = taken(writer.db()?)? {
        let end = packs::rows(old, from, |round, row| writer.row(round, row))?;
        writer.flush()?;
        writer.db()?.run(|c| c.execute("UPDATE about SET packs = ?1", [end as i64]))?;
    }
    writer.commit()?;
    writer.into_db()
}

/// Whether the packs have rows that were not copied.
fn lags(db: &Db, old: &Path) -> io::Result<bool> {
    let end = packs::end(old)?;
    Ok(taken(db)?.is_some_and(|taken| taken < end))
}

/// The pack position up to which rows were copied; `None` if packs are no longer read.
fn taken(db: &Db) -> io::Result<Option<u64>> {
    let taken = db.run(|c| {
        c.query_row("SELECT packs FROM about", [], |row| row.get::<_, Option<i64>>(0)).optional()
    })?;
    Ok(taken.map_or(Some(0), |taken| taken.map(|taken| taken as u64)))
}

/// Checks that the disk has room for a copy.
fn room(path: &Path, old: &Path) -> io::Result<()> {
    let needed = packs::size(old)?;
    let Ok(disk) = rustix::fs::statvfs(path.parent().unwrap_or(path)) else { return Ok(()) };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free >= needed {
        return Ok(());
    }
    let why = format!(
        "{}: sessions are stored in a new format. Copying this one needs up to {}, and {} are free: free some space and try again",
        old.display(),
        shown::size(needed),
        shown::size(free),
    );
    Err(io::Error::new(io::ErrorKind::StorageFull, why))
}

fn is_unwritable(e: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(e.kind(), PermissionDenied | ReadOnlyFilesystem | StorageFull | QuotaExceeded)
}
