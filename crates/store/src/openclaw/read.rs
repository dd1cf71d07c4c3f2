//! Reads any schema version that has the table of events, as plain or compressed JSON.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row};
use zstd::bulk::Decompressor;

use super::{Database, Listed, failed};
use crate::database::{immutable_uri, unlogged, unwritable};
use base::paths::digest;
use sessions::files::Stamp;

/// How long to wait for a busy database.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest event that OpenClaw compresses.
const LARGEST: usize = 4 * 1024 * 1024;

/// Opens a database read-only, so that the file stays as it is.
pub(super) fn open(path: &Path) -> io::Result<Connection> {
    // SQLite only says "unable to open", whatever the cause.
    fs::metadata(path).map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = connect(path, path, flags)?;
    match known(&connection) {
        // Without write access to its folder, it can only be read as immutable.
        Err(e) if unwritable(&e) && unlogged(path) => {
            let name = immutable_uri(path);
            let flags = flags | OpenFlags::SQLITE_OPEN_URI;
            let connection = connect(path, Path::new(&name), flags)?;
            check(path, known(&connection))?;
            Ok(connection)
        }
        known => check(path, known).map(|()| connection),
    }
}

fn connect(path: &Path, name: &Path, flags: OpenFlags) -> io::Result<Connection> {
    Connection::open_with_flags(name, flags)
        .and_then(|c| c.busy_timeout(PATIENCE).map(|()| c))
        .map_err(|e| failed(path, &e))
}

fn known(connection: &Connection) -> rusqlite::Result<bool> {
    has(connection, "transcript_events", "event_json")
}

fn check(path: &Path, known: rusqlite::Result<bool>) -> io::Result<()> {
    if known.map_err(|e| failed(path, &e))? {
        return Ok(());
    }
    let why = format!(
        "{} has no sessions of OpenClaw (no table transcript_events); until 2026.7.1 they are \
         files: sessions/ID.jsonl",
        path.display()
    );
    Err(io::Error::new(io::ErrorKind::InvalidData, why))
}

/// Whether a table has a column; this depends on the version.
fn has(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    connection
        .query_row("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2", [table, column], |_| {
            Ok(())
        })
        .optional()
        .map(|found| found.is_some())
}

/// The agent of the sessions: from the database, else from its folder's name.
pub(super) fn agent(connection: &Connection, path: &Path) -> io::Result<String> {
    let asked = || -> rusqlite::Result<Option<String>> {
        if !has(connection, "schema_meta", "agent_id")? {
            return Ok(None);
        }
        let sql = "SELECT agent_id FROM schema_meta WHERE meta_key = 'primary'";
        let found = connection.query_row(sql, [], |row| row.get::<_, Option<String>>(0));
        Ok(found.optional()?.flatten())
    };
    let said = asked().map_err(|e| failed(path, &e))?;
    let folder = path.parent().and_then(Path::parent).and_then(Path::file_name);
    let folder = || folder.map(|name| name.to_string_lossy().into_owned());
    Ok(said.or_else(folder).unwrap_or_else(|| "main".into()))
}

/// The sessions that have rows, the last written first.
pub(super) fn sessions(connection: &Connection, path: &Path) -> io::Result<Vec<Listed>> {
    let asked = || -> rusqlite::Result<Vec<Listed>> {
        let mut all = connection.prepare(
            "SELECT session_id, count(*) FROM transcript_events
             GROUP BY session_id ORDER BY max(created_at) DESC, session_id",
        )?;
        let found = all.query_map([], |row| {
            Ok(Listed { session: row.get(0)?, rows: row.get::<_, i64>(1)? as u64 })
        })?;
        found.collect()
    };
    asked().map_err(|e| failed(path, &e))
}

/// Whether the rows of a session are in an archive.
pub(super) fn is_cold(connection: &Connection, path: &Path, session: &str) -> io::Result<bool> {
    let asked = || {
        if !has(connection, "session_transcript_cold_archives", "session_id")? {
            return Ok(false);
        }
        let sql = "SELECT 1 FROM session_transcript_cold_archives WHERE session_id = ?1";
        connection.query_row(sql, [session], |_| Ok(())).optional().map(|found| found.is_some())
    };
    asked().map_err(|e| failed(path, &e))
}

/// A stamp of what OpenClaw itself detects changes by: rows, the time of the change, and the
/// generation, which every rewrite redraws.
pub(super) fn stamp(of: &Database, connection: &Connection) -> io::Result<Stamp> {
    let asked = || -> rusqlite::Result<(u64, i128)> {
        let sql = "SELECT count(*), max(seq), max(created_at) FROM transcript_events
                   WHERE session_id = ?1";
        let (rows, last, made) = connection.query_row(sql, [&of.session], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, Option<i64>>(1)?,
                row.get::<_, Option<i64>>(2)?,
            ))
        })?;
        let (mut generation, mut changed) = (None, None);
        if has(connection, "transcript_rewrite_watermarks", "generation")? {
            let sql = "SELECT CAST(generation AS TEXT) FROM transcript_rewrite_watermarks
                       WHERE session_id = ?1";
            let found = connection.query_row(sql, [&of.session], |row| row.get::<_, String>(0));
            generation = found.optional()?;
        }
        if has(connection, "session_windows", "transcript_updated_at")? {
            let sql = "SELECT transcript_updated_at FROM session_windows WHERE session_id = ?1";
            let found = connection.query_row(sql, [&of.session], |row| row.get(0));
            changed = found.optional()?.flatten();
        }
        let drawn = format!("{} {}", generation.unwrap_or_default(), last.unwrap_or(-1));
        // The time only has milliseconds; the digits below hold a hash of the rest.
        let at: i64 = changed.or(made).unwrap_or(0);
        let modified =
            i128::from(at) * 1_000_000 + i128::from(digest(drawn.as_bytes()) % 1_000_000);
        Ok((rows as u64, modified))
    };
    let (size, modified) = asked().map_err(|e| of.error(&e))?;
    let inode = fs::metadata(&of.path)?.ino();
    Ok(Stamp { size, modified, inode })
}

/// The query for a session's rows in order; with `one`, for a single row.
pub(super) fn query(connection: &Connection, one: bool) -> rusqlite::Result<String> {
    let which = if one { "AND seq = ?2" } else { "ORDER BY seq" };
    Ok(format!("{} WHERE session_id = ?1 {which}", query_all(connection)?))
}

/// The query for all rows, with the same columns.
pub(super) fn query_all(connection: &Connection) -> rusqlite::Result<String> {
    let compressed = has(connection, "transcript_events", "event_zstd")?;
    let columns = if compressed { "event_zstd, event_utf8_bytes" } else { "NULL, NULL" };
    Ok(format!("SELECT event_json, {columns}, seq FROM transcript_events"))
}

/// Passes the rows of a session to `each`.
pub(super) fn rows(
    of: &Database,
    connection: &Connection,
    each: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let failed = |e: rusqlite::Error| of.error(&e);
    let mut all = connection.prepare(&query(connection, false).map_err(failed)?).map_err(failed)?;
    let mut events = Events::new(of)?;
    let mut rows = all.query([&of.session]).map_err(failed)?;
    let mut number = 0;
    while let Some(row) = rows.next().map_err(failed)? {
        each(number, events.json(row)?)?;
        number += 1;
    }
    Ok(())
}

/// Decodes the JSON of events, plain or compressed.
pub(super) struct Events<'a> {
    of: &'a Database,
    decompressor: Decompressor<'static>,
    json: Vec<u8>,
}

impl<'a> Events<'a> {
    pub fn new(of: &'a Database) -> io::Result<Self> {
        Ok(Self { of, decompressor: Decompressor::new()?, json: Vec::new() })
    }

    /// The JSON of a row of [`query`].
    pub fn json<'r>(&'r mut self, row: &'r Row<'_>) -> io::Result<&'r [u8]> {
        let value = |at| row.get_ref(at).map_err(|e| self.of.error(&e));
        match (value(0)?, value(1)?, value(2)?) {
            (ValueRef::Text(json), ..) => Ok(json),
            (ValueRef::Null, ValueRef::Blob(frame), ValueRef::Integer(bytes)) => {
                let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes <= LARGEST);
                let bytes = bytes.ok_or_else(|| self.wrong(row, "its size is out of bounds"))?;
                let json = self.decompressor.decompress(frame, bytes);
                self.json = json.map_err(|e| self.wrong(row, &e.to_string()))?;
                if self.json.len() == bytes {
                    return Ok(&self.json);
                }
                Err(self.wrong(row, "it is shorter than the database says"))
            }
            _ => Err(self.wrong(row, "it is neither plain nor compressed")),
        }
    }

    fn wrong(&self, row: &Row<'_>, why: &str) -> io::Error {
        let seq = row.get::<_, i64>(3).unwrap_or(-1);
        let why = format!("{}: event {seq} can't be read: {why}", self.of.said());
        io::Error::new(io::ErrorKind::InvalidData, why)
    }
}
