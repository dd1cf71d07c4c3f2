//! A round and its copies, wherever they are.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use super::search::{Copied, Hit};
use sessions::origin::Origin;
use sessions::round::{Round, Session};

/// A hit with its copies in other sessions. Unless only one session was searched, it is the origin,
/// if that is imported. `connection` has `sessions.db` attached as `everywhere`.
pub(super) fn of(
    connection: &Connection,
    mut hit: Hit,
    origin: &Origin,
    one: bool,
) -> rusqlite::Result<Hit> {
    let mut query = connection.prepare_cached(
        "SELECT r.session_id, r.agent, r.seq, r.engagement_id FROM everywhere.sessions s \
         JOIN everywhere.rounds r \
             ON r.session_id = s.session_id AND r.agent = s.agent AND r.seq = ?2 \
         WHERE s.session_id = ?1 \
         UNION ALL \
         SELECT session_id, agent, seq, engagement_id FROM everywhere.rounds \
         WHERE origin_session = ?1 AND origin_seq = ?2",
    )?;
    let copied = |row: &rusqlite::Row| {
        let (session, agent) = (row.get(0)?, row.get(1)?);
        Ok(Copied { session, agent, seq: row.get(2)?, engagement: row.get(3)? })
    };
    let all = query.query_map(params![origin.session, origin.seq], copied)?;
    let all = all.collect::<rusqlite::Result<Vec<Copied>>>()?;
    let is_origin = |copied: &&Copied| copied.session == origin.session && copied.seq == origin.seq;
    if let Some(Copied { session, agent, seq, engagement }) =
        all.iter().find(is_origin).cloned().filter(|_| !one)
    {
        (hit.session, hit.agent, hit.seq) = (session, agent, seq);
        hit.engagement = engagement.or(hit.engagement);
    }
    let others = all.into_iter();
    hit.copies = others.filter(|copied| copied.session != hit.session).collect();
    Ok(hit)
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
