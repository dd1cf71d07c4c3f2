//! The operations: from sessions and their rounds to what a new session is to hold.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::fidelity::Fidelity;
use crate::clock::Time;
use crate::transcript::round::Session;

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "kebab-case")]
pub enum Operation {
    /// Rounds before a time become index lines.
    CompressBefore {
        /// The time.
        before: Time,
    },
    /// Rounds of an engagement become index lines.
    CompressEngagement {
        /// Its id.
        engagement: String,
    },
    /// Only the rounds of an engagement.
    ExtractEngagement {
        /// Its id.
        engagement: String,
    },
    /// Two sessions, by time.
    Merge,
    /// One child of a split.
    Split {
        /// The engagement of this child.
        engagement: String,
    },
}

/// A piece of the new session, in order. Sessions are numbered as in [`Plan::sessions`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Piece {
    /// One message of the user that holds the index table of these rounds.
    Index(Vec<Place>),
    /// A round with its rows.
    Round(Place),
}

/// A round of one of the plan's sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// Which session.
    pub session: usize,
    /// Which round of it.
    pub seq: u32,
}

/// What the new session is to hold, and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// What was asked for.
    #[serde(flatten)]
    pub operation: Operation,
    /// The sessions it is made from.
    #[serde(skip)]
    pub sessions: Vec<Session>,
    /// What it holds.
    pub pieces: Vec<Piece>,
    /// How much of each whole round.
    pub fidelity: Fidelity,
    /// What is known of it as a session.
    pub lineage: Lineage,
}

/// The new session's metadata (seed 000, "merge", "split").
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lineage {
    /// The session it was made from; of a merge, the earlier one.
    pub parent_session: String,
    /// All sessions it was made from.
    pub sources: Vec<String>,
    /// The earliest beginning.
    pub started: Option<Time>,
    /// The latest end.
    pub ended: Option<Time>,
    /// Rounds of all sources.
    pub rounds: usize,
    /// Engagements of all sources.
    pub engagements: Vec<String>,
}

/// Why an operation can't be done. Each names what was wrong and what there is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refused {
    /// Nothing would change.
    #[error("{0}")]
    Nothing(String),
    /// No round has that engagement.
    #[error(
        "no round of {session} is tagged {engagement}; there is: {there} (tag some with: brain-guard tag {session} 1-3 {engagement})"
    )]
    Engagement {
        /// The session.
        session: String,
        /// What was asked for.
        engagement: String,
        /// What there is, or `none`.
        there: String,
    },
    /// A map that can't be followed.
    #[error("the map's {key}: {fault}")]
    Map {
        /// The key.
        key: String,
        /// What is wrong with it.
        fault: String,
    },
    /// Sessions that can't be joined.
    #[error("{0}")]
    Sessions(String),
}

/// Which rounds go where in a split: engagement to ranges of rounds. Rounds that no
/// engagement names are shared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Map {
    /// By engagement.
    pub engagements: BTreeMap<String, Vec<RangeInclusive<u32>>>,
    /// Named as shared.
    pub shared: Vec<RangeInclusive<u32>>,
}

/// The rounds of a session that are in its context: those on the branch that its last round
/// stands on, from the last compaction on. Ascending.
pub fn in_context(session: &Session) -> Vec<u32> {
    let _ = session;
    todo!()
}

/// Rounds before `before` become one index table; the others stay whole.
///
/// # Errors
/// [`Refused::Nothing`] where no round lies before, or none after.
pub fn compress_before(
    session: Session,
    before: Time,
    fidelity: Fidelity,
) -> Result<Plan, Refused> {
    let _ = (session, before, fidelity);
    todo!()
}

/// Rounds of an engagement become index tables where they stood; the others stay whole.
///
/// # Errors
/// [`Refused::Engagement`].
pub fn compress_engagement(
    session: Session,
    engagement: &str,
    fidelity: Fidelity,
) -> Result<Plan, Refused> {
    let _ = (session, engagement, fidelity);
    todo!()
}

/// Only the rounds of an engagement.
///
/// # Errors
/// [`Refused::Engagement`].
pub fn extract_engagement(
    session: Session,
    engagement: &str,
    fidelity: Fidelity,
) -> Result<Plan, Refused> {
    let _ = (session, engagement, fidelity);
    todo!()
}

/// The rounds of two sessions, sorted by time.
///
/// # Errors
/// [`Refused::Sessions`] where both are the same, or of two dialects.
pub fn merge(a: Session, b: Session, fidelity: Fidelity) -> Result<Plan, Refused> {
    let _ = (a, b, fidelity);
    todo!()
}

/// A child for each engagement of the map: shared rounds as one index table, its own whole.
///
/// # Errors
/// [`Refused::Map`] where a range is not in the session or in two engagements.
pub fn split(session: &Session, map: &Map, fidelity: Fidelity) -> Result<Vec<Plan>, Refused> {
    let _ = (session, map, fidelity);
    todo!()
}
