//! All rows of a database, whatever session they are of.

use std::io;
use std::path::Path;
use std::sync::Mutex;

use rusqlite::OptionalExtension as _;

use super::read::{self, Events};
use super::{Database, failed};

/// How the database of an agent is called; another name is that of a copy.
const NAME: &str = "openclaw-agent.sqlite";

/// Hands on all rows of all sessions, in no order. Says whether there are sessions that
/// `OpenClaw` has put into cold storage, whose rows are not there.
///
/// # Errors
/// Why it can't be read.
pub fn every(path: &Path, each: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<bool> {
    let own = path.file_name().is_some_and(|name| name == NAME);
    let connection = if own { read::open(path)? } else { read::open_copy(path)? };
    let failed = |e: rusqlite::Error| failed(path, &e);
    let of = Database {
        path: path.to_owned(),
        agent: String::new(),
        session: String::new(),
        offline: false,
        copied: Mutex::default(),
    };
    let view = connection.unchecked_transaction().map_err(failed)?;
    let mut all = view.prepare(&read::query_all(&view).map_err(failed)?).map_err(failed)?;
    let mut events = Events::new(&of)?;
    let mut rows = all.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        each(events.json(row)?)?;
    }
    let table = "session_transcript_cold_archives";
    if !read::has(&view, table, "session_id").map_err(failed)? {
        return Ok(false);
    }
    let found = view.query_row(&format!("SELECT 1 FROM {table} LIMIT 1"), [], |_| Ok(()));
    Ok(found.optional().map_err(failed)?.is_some())
}
