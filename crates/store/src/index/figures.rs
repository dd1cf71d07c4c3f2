//! The figures of sessions for a list, from `sessions.db` alone: no row of a session is read.

use std::collections::BTreeSet;

use rusqlite::{Statement, params};

use super::{Error, Index};
use sessions::round::Session;

/// What a list shows of a session's rounds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Figures {
    /// How many there are.
    pub rounds: u32,
    /// Tokens of those in the context.
    pub tokens: u64,
    /// Their engagements.
    pub engagements: BTreeSet<String>,
}

const ROUNDS: &str = "SELECT state = 'in_context', tokens, engagement_id FROM rounds \
    WHERE session_id = ?1 AND agent = ?2";

impl Index {
    /// The figures of these sessions, in their order.
    pub fn figures(&self, sessions: &[&Session]) -> Result<Vec<Figures>, Error> {
        let Some(all) = self.all()? else { return Ok(vec![Figures::default(); sessions.len()]) };
        all.run(|c| {
            let mut query = c.prepare(ROUNDS)?;
            sessions.iter().map(|session| figures(&mut query, session)).collect()
        })
    }
}

fn figures(query: &mut Statement, session: &Session) -> rusqlite::Result<Figures> {
    let mut rows = query.query(params![session.id, session.agent])?;
    let mut figures = Figures::default();
    while let Some(row) = rows.next()? {
        figures.rounds += 1;
        if row.get(0)? {
            figures.tokens += row.get::<_, i64>(1)? as u64;
        }
        if let Some(id) = row.get_ref(2)?.as_str_or_null()?
            && !figures.engagements.contains(id)
        {
            figures.engagements.insert(id.to_owned());
        }
    }
    Ok(figures)
}
