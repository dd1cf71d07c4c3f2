//! The operations: from sessions and their rounds to what a new session is to hold.

mod branch;
mod doubled;
mod merge;
mod operations;
mod shared;
mod split;
mod tables;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use branch::{in_context, on_branch};
pub use merge::merge;
pub use operations::{compress_before, compress_engagement, extract_engagement, in_whole};
pub use shared::RowsOf;
pub use split::split;

use super::fidelity::Fidelity;
use base::clock::Time;
use sessions::round::{Round, Session};

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "kebab-case")]
pub enum Operation {
    /// Rounds before a time become index lines.
    CompressBefore {
        /// The time; of a cut at a round, when that round began.
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
    /// Long values of old messages are in the store, with placeholders in their places (seed
    /// 001, "Keep Recent, Extract Old").
    Extract {
        /// Messages at the end that stay.
        keep_recent: u32,
        /// Characters from which on a value goes.
        min_value_length: u32,
        /// What goes.
        trigger_types: Vec<String>,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
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
    /// Rounds that were asked for and are not in it.
    pub left: Left,
    /// How much of each whole round.
    pub fidelity: Fidelity,
    /// Whether it begins with a message that says which rounds are of which session, where it
    /// is made from several, so that the reader can tell the voices apart.
    pub voices: bool,
    /// What is known of it as a session.
    pub lineage: Lineage,
}

impl Plan {
    /// A round of the plan, with its session.
    pub fn at(&self, place: Place) -> Option<(&Session, &Round)> {
        let session = self.sessions.get(place.session)?;
        Some((session, session.round(place.seq)?))
    }

    /// The runs of whole rounds of one session, in order: who speaks when.
    pub fn runs(&self) -> Vec<(&Session, Vec<u32>)> {
        let whole: Vec<Place> = self.whole().collect();
        let runs = whole.chunk_by(|a, b| a.session == b.session).filter_map(|run| {
            let session = self.sessions.get(run.first()?.session)?;
            Some((session, run.iter().map(|place| place.seq).collect()))
        });
        runs.collect()
    }

    /// The rounds it holds whole, in order.
    pub fn whole(&self) -> impl Iterator<Item = Place> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Round(place) => Some(*place),
            Piece::Index(_) => None,
        })
    }

    /// Rows of the rounds that it holds whole.
    pub fn rows(&self) -> usize {
        self.whole().filter_map(|place| self.at(place)).map(|(_, round)| round.rows as usize).sum()
    }

    /// Bytes of the largest round of its sessions: room that is made once, for memory that grows
    /// step by step is there twice.
    pub fn largest(&self) -> usize {
        let rounds = self.sessions.iter().flat_map(|session| &session.rounds);
        rounds.map(|round| round.bytes as usize).max().unwrap_or_default()
    }

    /// The rounds it holds as index lines, in order.
    pub fn indexed(&self) -> impl Iterator<Item = Place> {
        let tables = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Index(places) => Some(places),
            Piece::Round(_) => None,
        });
        tables.flatten().copied()
    }
}

/// Rounds of the sources that are neither whole nor as index lines in the new session,
/// although the operation was not to leave them out: the sources had left them behind.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Left {
    /// The session was rewound to before them.
    pub rewound: Vec<Place>,
    /// A compaction took them out of the context.
    pub compacted: Vec<Place>,
    /// The other session of a merge has them, too.
    pub doubled: Vec<Place>,
}

/// The new session's metadata.
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
    /// The engagement it is for; where it is for none, those of all sources.
    pub engagements: Vec<String>,
}

impl Lineage {
    /// What is known of a session made from these; the first is its parent.
    fn of(sessions: &[Session]) -> Self {
        let rounds = || sessions.iter().flat_map(|s| &s.rounds);
        let started = sessions.iter().filter_map(|s| s.started);
        let ended = sessions.iter().filter_map(|s| s.ended);
        let engagements: BTreeSet<&String> =
            rounds().filter_map(|r| r.engagement.as_ref()).collect();
        Self {
            parent_session: sessions.first().map(|s| s.id.clone()).unwrap_or_default(),
            sources: sessions.iter().map(|s| s.id.clone()).collect(),
            started: started.chain(rounds().filter_map(|r| r.started)).min(),
            ended: ended.chain(rounds().filter_map(|r| r.ended)).max(),
            rounds: rounds().count(),
            engagements: engagements.into_iter().cloned().collect(),
        }
    }

    /// The same, for one engagement.
    fn for_one(sessions: &[Session], engagement: &str) -> Self {
        Self { engagements: vec![engagement.to_owned()], ..Self::of(sessions) }
    }
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
        "no round of {session} is tagged {engagement}; its tags: {there}. Tag rounds with: \
         brain-guard tag {session} 1-3 {engagement}"
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
    #[error("{key}: {fault}")]
    Map {
        /// The key.
        key: String,
        /// What is wrong with it.
        fault: String,
    },
    /// Sessions that can't be joined.
    #[error("{0}")]
    Sessions(String),
    /// Rows that are to be compared can't be read.
    #[error("{0}")]
    Unread(String),
}

/// Which rounds go where in a split: engagement to ranges of rounds. Rounds that no
/// engagement names are shared. Read by [`super::map::parse`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Map {
    /// By engagement.
    pub engagements: BTreeMap<String, Vec<RangeInclusive<u32>>>,
    /// Named as shared.
    pub shared: Vec<RangeInclusive<u32>>,
}
