//! Writes rows in one transaction and signals the change to OpenClaw, as its own rewrites do. First
//! copies the database.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, params};
use serde_json::Value;

use super::copies::{self, Copied};
use super::read::{self, Events, PATIENCE};
use super::{Database, cold};
use base::clock;
use sessions::files::{Change, Refused, Stamp, kept};

/// Schema versions that can be written; the requirements of others are unknown.
const KNOWN: [i64; 1] = [23];

/// Like [`SessionFile::edit`](sessions::files::SessionFile::edit), while nothing else has the
/// database open. Returns the path of the copy, if anything changed.
pub(super) fn edit(
    of: &Database,
    stamp: Stamp,
    change: Change<'_>,
) -> Result<Option<PathBuf>, Refused> {
    // Checks what it is, before it is opened to write.
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
    let copy = Copied::make(&of.path)?;
    if !changed(of, &transaction, change)? {
        return Ok(None);
    }
    if of.stamp(&transaction)?.size != stamp.size {
        return Err(Refused::Changed(of.said()));
    }
    // From here on, the file may have either version.
    let copy = copy.keep();
    transaction.commit().map_err(|e| {
        let (why, copy) = (of.error(&e), copy.display());
        let said = format!("{why}; the database as it was is at {copy}");
        Refused::Io(io::Error::new(why.kind(), said))
    })?;
    copies::trim(&of.path);
    Ok(Some(copy))
}

/// Refuses a database that we do not write.
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

/// Changes the rows, and what OpenClaw detects changes by. Returns whether any row changed.
fn changed(of: &Database, connection: &Connection, change: Change<'_>) -> Result<bool, Refused> {
    let failed = |e: rusqlite::Error| Refused::Io(of.error(&e));
    let (mut any, mut search) = (false, false);
    let sql = read::query(connection, true).map_err(failed)?;
    let mut get = connection.prepare(&sql).map_err(failed)?;
    // OpenClaw itself writes plain JSON where compression gains little.
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
        kept(before, &after).map_err(|lost| wrong(format!("without {lost}")))?;
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

/// Tells OpenClaw that the transcript changed: a new generation, a later time, and with `search` an
/// index to rebuild.
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

/// What OpenClaw derives from an event: everything but our marks, and of the message only what is
/// searched.
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
