//! Converts rounds and sessions to table rows and back.

use std::collections::{BTreeMap, BTreeSet};

use chrono::SecondsFormat;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use base::clock::Time;
use sessions::origin::Origin;
use sessions::round::{Round, Session};
use sessions::sent::Standing;

/// The columns of `rounds`, in the order that [`put`] and [`round`] use.
pub(super) const ROUND: &str = "seq, engagement_id, started, ended, roles, user_preview, \
    agent_preview, key_tool, tokens, measured, tools, files, rows, bytes, boundary, \
    first_id, origin_session, origin_seq, less, more, names, last_id, state, place, parts";

/// The columns of `session` and `sessions`, in the order that [`session`] uses.
pub(super) const SESSION: &str =
    "session_id, agent, dialect, cwd, source, started, ended, parent, base, used, cut, model";

/// Formats a time as stored.
pub(super) fn time(at: Time) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Reads a stored time.
pub(super) fn at(row: &Row, column: usize) -> rusqlite::Result<Option<Time>> {
    let Some(text) = row.get::<_, Option<String>>(column)? else { return Ok(None) };
    chrono::DateTime::parse_from_rfc3339(&text)
        .map(|at| Some(at.to_utc()))
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(e)))
}

/// Inserts or replaces a round.
pub(super) fn put(
    connection: &Connection,
    session: &str,
    agent: &str,
    round: &Round,
) -> rusqlite::Result<()> {
    let roles = match (round.user, round.assistant) {
        (true, true) => "user→assistant",
        (true, false) => "user",
        (false, true) => "assistant",
        (false, false) => "",
    };
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO rounds(session_id, agent, seq, engagement_id, started, ended, \
             roles, user_preview, agent_preview, key_tool, tokens, measured, tools, files, rows, \
             bytes, boundary, first_id, origin_session, origin_seq, less, more, names, last_id, \
             state, place, parts) \
             VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, \
             ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27)",
        )?
        .execute(params![
            session,
            agent,
            round.seq,
            round.engagement,
            round.started.map(time),
            round.ended.map(time),
            roles,
            round.user_preview,
            round.agent_preview,
            round.key_tool,
            round.tokens as i64,
            round.measured,
            json(&round.tools)?,
            json(&round.files)?,
            round.rows,
            round.bytes as i64,
            round.boundary,
            round.first_id,
            round.origin.as_ref().map(|origin| &origin.session),
            round.origin.as_ref().map(|origin| origin.seq),
            round.less,
            round.more,
            round.table.as_ref().map(json).transpose()?,
            round.last_id,
            state(&round.standing)?,
            round.standing.place,
            parts(&round.standing)?,
        ])?;
    Ok(())
}

/// Writes how a round stands to the next request. Returns whether that changed.
pub(super) fn stand(
    connection: &Connection,
    (session, agent): (&str, &str),
    seq: u32,
    standing: &Standing,
) -> rusqlite::Result<bool> {
    let changed = connection
        .prepare_cached(
            "UPDATE rounds SET state = ?4, place = ?5, parts = ?6 \
             WHERE session_id = ?1 AND agent = ?2 AND seq = ?3 \
             AND (state, place, parts) IS NOT (?4, ?5, ?6)",
        )?
        .execute(params![
            session,
            agent,
            seq,
            state(standing)?,
            standing.place,
            parts(standing)?
        ])?;
    Ok(changed > 0)
}

/// The state as stored: `in_context`.
fn state(standing: &Standing) -> rusqlite::Result<String> {
    Ok(json(&standing.state)?.trim_matches('"').to_owned())
}

fn parts(standing: &Standing) -> rusqlite::Result<Option<String>> {
    Some(&standing.parts).filter(|parts| !parts.is_empty()).map(json).transpose()
}

/// Reads [`Standing`] from three columns.
fn standing(row: &Row, column: usize) -> rusqlite::Result<Standing> {
    let quoted = format!("\"{}\"", row.get_ref(column)?.as_str()?);
    let state = serde_json::from_str(&quoted)
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(e)))?;
    let parts = row.get::<_, Option<String>>(column + 2)?;
    let parts = parts.map(|_| of_json(row, column + 2)).transpose()?.unwrap_or_default();
    Ok(Standing { state, place: row.get(column + 1)?, parts })
}

/// Writes a value as JSON.
pub(super) fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))
}

/// Reads a JSON column.
pub(super) fn of_json<T: serde::de::DeserializeOwned>(
    row: &Row,
    column: usize,
) -> rusqlite::Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?)
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(e)))
}

/// Reads a round from the columns [`ROUND`].
pub(super) fn round(row: &Row) -> rusqlite::Result<Round> {
    Ok(Round { tools: of_json(row, 10)?, files: of_json(row, 11)?, ..outline(row)? })
}

/// Reads a round without its tools and files, which are larger than all the rest.
fn outline(row: &Row) -> rusqlite::Result<Round> {
    let roles: String = row.get(4)?;
    Ok(Round {
        seq: row.get(0)?,
        engagement: row.get(1)?,
        started: at(row, 2)?,
        ended: at(row, 3)?,
        user: roles.starts_with("user"),
        assistant: roles.ends_with("assistant"),
        user_preview: row.get(5)?,
        agent_preview: row.get(6)?,
        key_tool: row.get(7)?,
        tokens: row.get::<_, i64>(8)? as u64,
        measured: row.get(9)?,
        tools: BTreeMap::new(),
        files: BTreeSet::new(),
        rows: row.get(12)?,
        bytes: row.get::<_, i64>(13)? as u64,
        boundary: row.get(14)?,
        first_id: row.get(15)?,
        origin: origin(row, 16)?,
        copied: None,
        less: row.get(18)?,
        more: row.get(19)?,
        table: row.get::<_, Option<String>>(20)?.map(|_| of_json(row, 20)).transpose()?,
        last_id: row.get(21)?,
        standing: standing(row, 22)?,
    })
}

/// Reads an origin from two columns.
pub(super) fn origin(row: &Row, column: usize) -> rusqlite::Result<Option<Origin>> {
    let Some(session) = row.get(column)? else { return Ok(None) };
    Ok(Some(Origin { session, seq: row.get(column + 1)? }))
}

/// Reads a session, without rounds, from the columns [`SESSION`].
pub(super) fn session(row: &Row) -> rusqlite::Result<Session> {
    Ok(Session {
        id: row.get(0)?,
        agent: row.get(1)?,
        dialect: row.get(2)?,
        cwd: row.get(3)?,
        source: row.get(4)?,
        started: at(row, 5)?,
        ended: at(row, 6)?,
        parent: row.get(7)?,
        base: row.get::<_, Option<i64>>(8)?.map(|tokens| tokens as u64),
        used: row.get::<_, Option<i64>>(9)?.map(|tokens| tokens as u64),
        cut: row.get::<_, Option<i64>>(10)?.map(|line| line as u64),
        model: row.get(11)?,
        rounds: Vec::new(),
    })
}

/// Rounds of a session in a range, in order.
pub(super) fn rounds(
    connection: &Connection,
    session: &str,
    agent: &str,
    range: (u32, u32),
) -> rusqlite::Result<Vec<Round>> {
    select(connection, session, agent, range, round)
}

/// All rounds of a session, in order, without their tools and files.
pub(super) fn outlines(
    connection: &Connection,
    session: &str,
    agent: &str,
) -> rusqlite::Result<Vec<Round>> {
    select(connection, session, agent, ALL, outline)
}

fn select(
    connection: &Connection,
    session: &str,
    agent: &str,
    (first, last): (u32, u32),
    read: fn(&Row) -> rusqlite::Result<Round>,
) -> rusqlite::Result<Vec<Round>> {
    let query = format!(
        "SELECT {ROUND} FROM rounds WHERE session_id = ?1 AND agent = ?2 \
         AND seq BETWEEN ?3 AND ?4 ORDER BY seq"
    );
    let mut statement = connection.prepare_cached(&query)?;
    statement.query_map(params![session, agent, first, last], read)?.collect()
}

/// Reads the session of a `session.db`.
pub(super) fn own(connection: &Connection) -> rusqlite::Result<Option<Session>> {
    let query = format!("SELECT {SESSION} FROM session");
    connection.query_row(&query, [], session).optional()
}

/// The range of all rounds.
pub(super) const ALL: (u32, u32) = (0, u32::MAX);
