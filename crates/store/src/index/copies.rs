//! A round and its copies, wherever they are.

use std::collections::HashSet;

use rusqlite::{Connection, params};
use serde::Serialize;

use sessions::origin::Origin;
use sessions::round::{Round, Session};

/// A copy of a round in another session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Copied {
    /// The session.
    pub session: String,
    /// The agent that ran it.
    pub agent: String,
    /// The round's number in it.
    #[serde(rename = "round")]
    pub seq: u32,
    /// Its engagement there.
    pub engagement: Option<String>,
}

/// A round's origin, if that is imported, and its copies. `database` is the name of `sessions.db` in
/// the connection. `CROSS JOIN` keeps the order: from the other table, all rounds of the session are
/// looked at.
pub(super) fn of(
    connection: &Connection,
    database: &str,
    origin: &Origin,
) -> rusqlite::Result<Vec<Copied>> {
    let mut query = connection.prepare_cached(&format!(
        "SELECT r.session_id, r.agent, r.seq, r.engagement_id FROM {database}.sessions s \
         CROSS JOIN {database}.rounds r \
             ON r.session_id = s.session_id AND r.agent = s.agent AND r.seq = ?2 \
         WHERE s.session_id = ?1 \
         UNION ALL \
         SELECT session_id, agent, seq, engagement_id FROM {database}.rounds \
         WHERE origin_session = ?1 AND origin_seq = ?2",
    ))?;
    let copied = |row: &rusqlite::Row| {
        let (session, agent) = (row.get(0)?, row.get(1)?);
        Ok(Copied { session, agent, seq: row.get(2)?, engagement: row.get(3)? })
    };
    query.query_map(params![origin.session, origin.seq], copied)?.collect()
}

/// Each round once: its first place in the list whose session is the origin, else its first place.
pub(super) fn once(rounds: Vec<(Session, Round)>) -> Vec<(Session, Round)> {
    let origins = rounds.iter().filter(|(_, round)| round.origin.is_none());
    let mut seen: HashSet<Origin> = origins.map(|(session, round)| session.origin(round)).collect();
    let first = |(session, round): &(Session, Round)| {
        round.origin.is_none() || round.more || seen.insert(session.origin(round))
    };
    rounds.into_iter().filter(first).collect()
}
