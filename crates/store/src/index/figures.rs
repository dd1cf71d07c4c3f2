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

/// A session's rounds, the newest first.
const ROUNDS: &str = "SELECT seq, follows, boundary, tokens, engagement_id FROM rounds \
    WHERE session_id = ?1 AND agent = ?2 ORDER BY seq DESC";

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

/// The rounds in the context are those on the branch of the last one, back to a compaction, as in
/// `surgery::plan::in_context`. A round only follows earlier ones, so one pass finds them.
fn figures(query: &mut Statement, session: &Session) -> rusqlite::Result<Figures> {
    let mut rows = query.query(params![session.id, session.agent])?;
    let (mut figures, mut wanted) = (Figures::default(), None);
    while let Some(row) = rows.next()? {
        let seq: u32 = row.get(0)?;
        if figures.rounds == 0 || wanted == Some(seq) {
            let is_boundary: bool = row.get(2)?;
            wanted = if is_boundary { None } else { row.get(1)? };
            figures.tokens += row.get::<_, i64>(3)? as u64;
        }
        figures.rounds += 1;
        if let Some(id) = row.get_ref(4)?.as_str_or_null()?
            && !figures.engagements.contains(id)
        {
            figures.engagements.insert(id.to_owned());
        }
    }
    Ok(figures)
}
