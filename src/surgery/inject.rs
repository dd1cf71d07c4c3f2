//! `inject`: one round, at the asked fidelity, as text for the agent to read. Alters nothing.

use super::fidelity::Fidelity;
use crate::transcript::dialect::Dialect;
use crate::transcript::round::{Round, Session};

/// The round as Markdown. `rows` are its rows as they are in the store.
pub fn text(
    session: &Session,
    round: &Round,
    rows: &[&[u8]],
    dialect: &dyn Dialect,
    fidelity: Fidelity,
) -> String {
    let _ = (session, round, rows, dialect, fidelity);
    todo!()
}

/// A reference to a round: its number in a session that is known, or `session:number`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ref {
    /// The session's id, or the beginning of one.
    pub session: Option<String>,
    /// The round.
    pub seq: u32,
}

/// Reads `47`, `047` or `3f0a9d1e:47`.
pub fn parse(text: &str) -> Option<Ref> {
    let _ = text;
    todo!()
}
