//! What a copied round has from its origin: its place, its tag, and its measured tokens.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::copies::{self, Copied};
use super::{Words, rows};
use sessions::origin::Origin;
use sessions::round::{Round, Session};

/// The rounds of a session, each with what its origin gives it. `connection` is that of
/// `sessions.db`; `engagement` is what a split made the session for.
pub(super) fn all(
    connection: &Connection,
    session: &Session,
    rounds: &[(Round, Words)],
    engagement: Option<&str>,
) -> rusqlite::Result<Vec<Round>> {
    // One snapshot, and its locks are taken once.
    let connection = &connection.unchecked_transaction()?;
    let rounds = rounds.iter().map(|(round, _)| {
        let mut round = round.clone();
        if round.origin.is_none() {
            find(connection, session, &mut round)?;
        }
        tag(connection, session, &mut round, engagement)?;
        if let Some(origin) = round.origin.clone()
            && !(round.measured || round.less || round.more)
        {
            measure(connection, &origin, &mut round)?;
        }
        Ok(round)
    });
    rounds.collect()
}

/// Finds the origin of a round that a client copied, by the id of its first row: forks keep the
/// ids (client 2.1.330, pi 0.73), or name those of the rows they copied.
fn find(connection: &Connection, session: &Session, round: &mut Round) -> rusqlite::Result<()> {
    let Some(row) = round.copied.as_ref().map(|(_, row)| row).or(round.first_id.as_ref()) else {
        return Ok(());
    };
    // The ids of pi are short: in another session than the parent, they may be by chance the same.
    let parent = session.parent.as_deref().filter(|_| session.dialect == "pi");
    let mut query = connection.prepare_cached(
        "SELECT r.session_id, r.seq, r.origin_session, r.origin_seq, r.last_id FROM rounds r \
         WHERE r.first_id = ?1 AND r.session_id <> ?2 AND r.origin_session IS NOT ?2 \
         AND (?3 <> 'pi' OR r.session_id IN \
             (SELECT session_id FROM sessions WHERE session_id = ?4 OR source = ?4)) \
         ORDER BY r.origin_session IS NOT NULL LIMIT 1",
    )?;
    let found = query.query_row(params![row, session.id, session.dialect, parent], |row| {
        let own = Origin { session: row.get(0)?, seq: row.get(1)? };
        Ok((rows::origin(row, 2)?.unwrap_or(own), row.get::<_, Option<String>>(4)?))
    });
    let Some((origin, last)) = found.optional()? else { return Ok(()) };
    round.origin = Some(origin);
    // It parted from the original within the round, unless it only has the prompt.
    let same = round.copied.is_some() || round.last_id == last || round.last_id == round.first_id;
    round.more |= !same;
    Ok(())
}

/// A round and its copies have one tag; where none of them is known yet, a copy has what a split
/// made the session for.
fn tag(
    connection: &Connection,
    session: &Session,
    round: &mut Round,
    split: Option<&str>,
) -> rusqlite::Result<()> {
    if !round.is_work() {
        round.engagement = None;
        return Ok(());
    }
    let all = copies::of(connection, "main", &session.origin(round))?;
    let is_other = |copy: &Copied| copy.session != session.id;
    let mut others = all.into_iter().filter(is_other).peekable();
    if others.peek().is_some() {
        round.engagement = others.find_map(|copy| copy.engagement);
    } else if let Some(engagement) = split.filter(|_| round.origin.is_some()) {
        round.engagement = Some(engagement.to_owned());
    }
    Ok(())
}

fn measure(connection: &Connection, origin: &Origin, round: &mut Round) -> rusqlite::Result<()> {
    let mut query = connection.prepare_cached(
        "SELECT r.tokens FROM sessions s CROSS JOIN rounds r \
         ON r.session_id = s.session_id AND r.agent = s.agent AND r.seq = ?2 \
         WHERE s.session_id = ?1 AND r.measured",
    )?;
    let tokens = query.query_row(params![origin.session, origin.seq], |row| row.get::<_, i64>(0));
    if let Some(tokens) = tokens.optional()? {
        (round.tokens, round.measured) = (tokens as u64, true);
    }
    Ok(())
}
