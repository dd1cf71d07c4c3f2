//! Opens a file of blocks, and copies packs, the old format, into it first: in one transaction,
//! when a session is first used. The packs stay until `store drop-old`. What a running older
//! program still appends is copied, too, until this one writes the session itself.

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
    /// Opens the rows of a session.
    ///
    /// # Errors
    /// `NotFound` where none are kept; what the system says.
    pub fn open(folder: &Folder) -> io::Result<Self> {
        Self::of(&folder.blocks())
    }

    /// Opens the rows in a file.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn of(path: &Path) -> io::Result<Self> {
        let none = || {
            let why = format!("{}: no blocks; `brain-guard import` writes them", path.display());
            io::Error::new(io::ErrorKind::NotFound, why)
        };
        read(path)?.map(Self::new).ok_or_else(none)
    }

    /// Opens the rows in a file that has all that the packs beside it hold: a copy in memory is
    /// none.
    pub(super) fn copied(path: &Path) -> io::Result<Self> {
        Ok(Self::new(copied(path, &packs::of(path))?))
    }
}

impl Writer {
    /// Opens the blocks in a file, which is made with the first row.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::new(path, write(path)?)
    }
}

/// What tells the blocks in a file from those of the session's other editions, whatever the file
/// is called; none where it has none or can't be read.
pub fn identity(blocks: &Path) -> Option<u64> {
    read(blocks).ok()?.and_then(|db| file::identity(&db).ok()?)
}

/// Opens blocks to read; `None` where there are none. Packs are copied into memory where the disk
/// is full or read-only.
fn read(path: &Path) -> io::Result<Option<Db>> {
    let old = packs::of(path);
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
            // Only what an older program appended since is missing.
            Some(db) if taken(&db)? > Some(0) => Ok(Some(db)),
            _ => take_over(Db::in_memory(path, SCHEMA)?, &old).map(Some),
        },
        other => other.map(Some),
    }
}

/// Opens blocks to write; `None` where there are none yet. From then on packs are not looked at.
fn write(path: &Path) -> io::Result<Option<Db>> {
    let old = packs::of(path);
    if !old.is_dir() {
        return Ok(if path.exists() { Some(Db::make(path, SCHEMA)?) } else { None });
    }
    let db = copied(path, &old)?;
    db.run(|c| c.execute("UPDATE about SET packs = NULL", []))?;
    Ok(Some(db))
}

/// The blocks in a file, with all that the packs hold.
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

/// Whether packs hold more than was copied.
fn lags(db: &Db, old: &Path) -> io::Result<bool> {
    let end = packs::end(old)?;
    Ok(taken(db)?.is_some_and(|taken| taken < end))
}

/// Up to where packs were copied; `None` where they are not looked at any more.
fn taken(db: &Db) -> io::Result<Option<u64>> {
    let taken = db.run(|c| {
        c.query_row("SELECT packs FROM about", [], |row| row.get::<_, Option<i64>>(0)).optional()
    })?;
    Ok(taken.map_or(Some(0), |taken| taken.map(|taken| taken as u64)))
}

/// That a copy has room.
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
