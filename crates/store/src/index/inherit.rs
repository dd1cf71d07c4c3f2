//! What a copied round has from its origin: its place, its tag, and its measured tokens.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Words, rows};
use sessions::origin::Origin;
use sessions::round::{Round, Session};

/// The origins of a session's rounds by the ids of their first rows.
type Known = HashMap<String, Origin>;

/// The rounds of a session, each with what its origin gives it. `connection` is that of
/// `sessions.db`; `engagement` is what a split made the session for.
pub(super) fn all(
    connection: &Connection,
    session: &Session,
    rounds: &[(Round, Words)],
    engagement: Option<&str>,
) -> rusqlite::Result<Vec<Round>> {
    let mut known: HashMap<String, Known> = HashMap::new();
    let mut inherited = Vec::with_capacity(rounds.len());
    for (round, _) in rounds {
        let mut round = round.clone();
        if round.origin.is_none()
            && let Some((from, row)) = source(session, &round)
        {
            if !known.contains_key(&from) {
                known.insert(from.clone(), first_rows(connection, &from)?);
            }
            round.origin = known[&from].get(&row).cloned();
        }
        if let Some(origin) = &round.origin {
            inherit(connection, &origin.clone(), &mut round, engagement)?;
        }
        inherited.push(round);
    }
    Ok(inherited)
}

/// The session, or its file, and the row that a round was copied from. pi copies rows with their
/// ids.
fn source(session: &Session, round: &Round) -> Option<(String, String)> {
    if session.dialect == "pi" && round.copied.is_none() {
        return Some((session.parent.clone()?, round.first_id.clone()?));
    }
    round.copied.clone()
}

fn first_rows(connection: &Connection, from: &str) -> rusqlite::Result<Known> {
    let mut query = connection.prepare_cached(
        "SELECT first_id, session_id, seq, origin_session, origin_seq FROM rounds \
         WHERE first_id IS NOT NULL AND session_id IN \
             (SELECT session_id FROM sessions WHERE session_id = ?1 OR source = ?1)",
    )?;
    let known = query.query_map([from], |row| {
        let own = Origin { session: row.get(1)?, seq: row.get(2)? };
        Ok((row.get(0)?, rows::origin(row, 3)?.unwrap_or(own)))
    })?;
    known.collect()
}

fn inherit(
    connection: &Connection,
    origin: &Origin,
    round: &mut Round,
    engagement: Option<&str>,
) -> rusqlite::Result<()> {
    let mut query = connection.prepare_cached(
        "SELECT r.engagement_id, r.tokens, r.measured FROM sessions s JOIN rounds r \
         ON r.session_id = s.session_id AND r.agent = s.agent AND r.seq = ?2 \
         WHERE s.session_id = ?1",
    )?;
    let found = query.query_row(params![origin.session, origin.seq], |row| {
        Ok((row.get::<_, Option<String>>(0)?, row.get::<_, i64>(1)? as u64, row.get(2)?))
    });
    let Some((tag, tokens, measured)) = found.optional()? else { return Ok(()) };
    let engagement = engagement.map(str::to_owned).filter(|_| round.table.is_none());
    round.engagement = engagement.or(tag).or(round.engagement.take());
    if measured && !(round.measured || round.less || round.more) {
        (round.tokens, round.measured) = (tokens, true);
    }
    Ok(())
}
