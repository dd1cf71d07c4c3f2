//! The figures of sessions for a list, from `sessions.db` alone: no row of a session is read.

use rusqlite::params;

use super::{Error, Index, rows};
use sessions::round::Session;

/// What a list shows of a session's rounds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Figures {
    /// How many there are.
    pub rounds: u32,
    /// Tokens of those in the context.
    pub tokens: u64,
    /// Their engagements.
    pub engagements: Vec<String>,
}

/// The rounds in the context are those on the branch of the last one, back to a compaction, as in
/// `surgery::plan::in_context`.
const FIGURES: &str = "
    WITH RECURSIVE context(seq, follows, boundary, tokens) AS (
        SELECT * FROM (SELECT seq, follows, boundary, tokens FROM rounds
            WHERE session_id = ?1 AND agent = ?2 ORDER BY seq DESC LIMIT 1)
        UNION ALL
        SELECT rounds.seq, rounds.follows, rounds.boundary, rounds.tokens FROM context, rounds
            WHERE session_id = ?1 AND agent = ?2 AND rounds.seq = context.follows
            AND context.follows < context.seq AND NOT context.boundary)
    SELECT count(*), (SELECT coalesce(sum(tokens), 0) FROM context),
        json_group_array(DISTINCT engagement_id) FILTER (WHERE engagement_id IS NOT NULL)
        FROM rounds WHERE session_id = ?1 AND agent = ?2";

impl Index {
    /// The figures of these sessions, in their order.
    pub fn figures(&self, sessions: &[&Session]) -> Result<Vec<Figures>, Error> {
        let Some(all) = self.all()? else { return Ok(vec![Figures::default(); sessions.len()]) };
        all.run(|c| {
            let mut query = c.prepare(FIGURES)?;
            let figures = |row: &rusqlite::Row| {
                Ok(Figures {
                    rounds: row.get(0)?,
                    tokens: row.get::<_, i64>(1)? as u64,
                    engagements: rows::of_json(row, 2)?,
                })
            };
            sessions.iter().map(|s| query.query_row(params![s.id, s.agent], figures)).collect()
        })
    }
}
