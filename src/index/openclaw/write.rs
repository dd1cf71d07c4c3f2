//! Writing: one transaction that changes rows and tells OpenClaw so, as it does itself when it
//! rewrites a transcript. Before it, the database is copied.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, ffi, params};
use serde_json::Value;

use super::read::{self, Events, PATIENCE};
use super::{Database, cold, failed};
use crate::clock;
use crate::store::sessions::{Change, Refused, Stamp};

/// The schemas whose rows may be written; what others ask for is not known.
const KNOWN: [i64; 1] = [23];
/// Pages that are copied at a time.
const PAGES: i32 = 4096;

/// As [`SessionFile::edit`](crate::store::sessions::SessionFile::edit); nothing else has the
/// database open.
pub(super) fn edit(
    of: &Database,
    stamp: Stamp,
    ready: &mut dyn FnMut() -> io::Result<()>,
    change: Change<'_>,
) -> Result<(), Refused> {
    // What it is, before it is opened to write.
    drop(read::open(&of.path)?);
    let failed = |e: rusqlite::Error| Refused::Io(of.error(&e));
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&of.path, flags).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    let transaction =
        Transaction::new_unchecked(&connection, TransactionBehavior::Immediate).map_err(failed)?;
    writable(of, &transaction)?;
    if of.stamp(&transaction)? != stamp {
        return Err(Refused::Changed(of.said()));
    }
    let mut copy = Copied::make(&of.path)?;
    ready()?;
    if !changed(of, &transaction, change)? {
        return Ok(());
    }
    if of.stamp(&transaction)?.size != stamp.size {
        return Err(Refused::Changed(of.said()));
    }
    transaction.commit().map_err(failed)?;
    copy.keep = true;
    Ok(())
}

/// Whether a database of this kind is written.
fn writable(of: &Database, connection: &Connection) -> Result<(), Refused> {
    let read = |name| connection.pragma_query_value(None, name, |row| row.get(0));
    let version: i64 = read("user_version").map_err(|e| of.error(&e))?;
    let text: Result<String, _> = connection.pragma_query_value(None, "encoding", |row| row.get(0));
    let text = text.map_err(|e| of.error(&e))?;
    let path = of.path.display();
    if !KNOWN.contains(&version) {
        return Err(Refused::Unsupported(format!(
            "{path} has schema {version}, and only {KNOWN:?} (OpenClaw 2026.9.6) is written; \
             `plan`, `search` and `restore` without --in-place work"
        )));
    }
    if text != "UTF-8" {
        return Err(Refused::Unsupported(format!(
            "{path} keeps its text as {text}, which is not written; `plan`, `search` and \
             `restore` without --in-place work"
        )));
    }
    if read::is_cold(connection, &of.path, &of.session)? {
        return Err(Refused::Unsupported(cold(&of.path, &of.session).to_string()));
    }
    Ok(())
}

/// Changes the rows, and what OpenClaw tells versions by; says whether any was changed.
fn changed(of: &Database, connection: &Connection, change: Change<'_>) -> Result<bool, Refused> {
    let failed = |e: rusqlite::Error| Refused::Io(of.error(&e));
    let (mut any, mut search) = (false, false);
    let sql = read::query(connection, true).map_err(failed)?;
    let mut get = connection.prepare(&sql).map_err(failed)?;
    // Plain JSON is what OpenClaw itself writes where compression gains little.
    let mut put = connection
        .prepare(
            "UPDATE transcript_events SET event_json = ?3, event_utf8_bytes = ?4,
                 event_zstd = NULL, navigation_json = NULL
             WHERE session_id = ?1 AND seq = ?2",
        )
        .map_err(failed)?;
    let mut events = Events::new(of)?;
    for (number, seq) in numbers(of, connection).map_err(failed)?.into_iter().enumerate() {
        let mut found = get.query(params![of.session, seq]).map_err(failed)?;
        let Some(row) = found.next().map_err(failed)? else {
            return Err(Refused::Changed(of.said()));
        };
        let before = events.json(row)?;
        let Some(after) = change(number as u64, before)? else { continue };
        let wrong = |why: String| {
            let why = format!("{}: event {seq} would be {why}", of.said());
            Refused::Io(io::Error::new(io::ErrorKind::InvalidData, why))
        };
        let text = str::from_utf8(&after).map_err(|e| wrong(format!("no text: {e}")))?;
        let value: Value =
            serde_json::from_str(text).map_err(|e| wrong(format!("no JSON: {e}")))?;
        search |= searched(serde_json::from_slice(before).ok()) != searched(Some(value));
        drop(found);
        let rows = put.execute(params![of.session, seq, text, text.len() as i64]);
        if rows.map_err(failed)? != 1 {
            return Err(Refused::Changed(of.said()));
        }
        any = true;
    }
    if any {
        tell(of, connection, search).map_err(failed)?;
    }
    Ok(any)
}

fn numbers(of: &Database, connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    let sql = "SELECT seq FROM transcript_events WHERE session_id = ?1 ORDER BY seq";
    connection.prepare(sql)?.query_map([&of.session], |row| row.get(0))?.collect()
}

/// Has OpenClaw see that it is another transcript: a new generation, a later time, and, where
/// `search` says so, an index to make anew.
fn tell(of: &Database, connection: &Connection, search: bool) -> rusqlite::Result<()> {
    let now = clock::now().timestamp_millis();
    connection.execute(
        "INSERT INTO transcript_rewrite_watermarks (session_id, generation, updated_at)
         VALUES (?1, lower(hex(randomblob(16))), ?2)
         ON CONFLICT (session_id) DO UPDATE
         SET generation = excluded.generation, updated_at = excluded.updated_at",
        params![of.session, now],
    )?;
    connection.execute(
        "UPDATE session_windows SET transcript_updated_at = max(
             ?2, coalesce(transcript_updated_at, -1) + 1, coalesce(transcript_observed_at, -1) + 1)
         WHERE session_id = ?1",
        params![of.session, now],
    )?;
    if search {
        connection.execute(
            "UPDATE session_transcript_index_state SET needs_rebuild = 1 WHERE session_id = ?1",
            [&of.session],
        )?;
    }
    Ok(())
}

/// What OpenClaw derives from an event: all but our marks, and of the message what is searched
/// for.
fn searched(event: Option<Value>) -> Option<BTreeMap<String, Value>> {
    let Some(Value::Object(event)) = event else { return None };
    let kept = event.into_iter().filter(|(name, _)| !name.starts_with('_'));
    Some(
        kept.map(|(name, value)| {
            let value = if name == "message" { words(value) } else { value };
            (name, value)
        })
        .collect(),
    )
}

fn words(message: Value) -> Value {
    let Value::Object(mut message) = message else { return message };
    let role = message.remove("role").unwrap_or_default();
    let hidden = message.remove("excludeFromContext").unwrap_or_default();
    let content = message.remove("content").unwrap_or_default();
    let said = match (role.as_str(), content) {
        (Some("user" | "assistant"), Value::Array(blocks)) => {
            let texts = blocks.into_iter().filter(|block| block["type"] == "text");
            texts.map(|mut block| block["text"].take()).collect()
        }
        (Some("user" | "assistant"), content) => content,
        _ => Value::Null,
    };
    Value::Array(vec![role, hidden, said])
}

/// The copy of a database; it goes again where nothing was changed.
struct Copied {
    path: PathBuf,
    keep: bool,
}

impl Copied {
    fn make(database: &Path) -> io::Result<Self> {
        let time = clock::now().format("%Y%m%dT%H%M%S%.3fZ");
        let mut name = database.file_name().unwrap_or_default().to_owned();
        name.push(format!(".brain-guard-{time}"));
        let path = database.with_file_name(name);
        let unmade = |e: io::Error| {
            let why = format!("{}: no copy before the database is written: {e}", path.display());
            io::Error::new(e.kind(), why)
        };
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).map_err(unmade)?;
        let copy = Self { path: path.clone(), keep: false };
        copy.fill(database).map_err(|e| unmade(failed(&path, &e)))?;
        File::open(&path).and_then(|file| file.sync_all()).map_err(unmade)?;
        if let Some(folder) = path.parent() {
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(unmade)?;
        }
        Ok(copy)
    }

    fn fill(&self, database: &Path) -> rusqlite::Result<()> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let from = Connection::open_with_flags(database, flags)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut to = Connection::open_with_flags(&self.path, flags)?;
        let backup = Backup::new(&from, &mut to)?;
        loop {
            match backup.step(PAGES)? {
                StepResult::Done => return Ok(()),
                StepResult::More => {}
                // It was waited for: SQLite's own patience is five seconds.
                _ => {
                    let busy = ffi::Error::new(ffi::SQLITE_BUSY);
                    return Err(rusqlite::Error::SqliteFailure(busy, None));
                }
            }
        }
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        if !self.keep {
            // It holds nothing that the database does not.
            let _ = fs::remove_file(&self.path);
        }
    }
}
