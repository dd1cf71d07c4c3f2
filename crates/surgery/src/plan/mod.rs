//! The operations: from sessions and their rounds to the plan of a new session.

mod copies;
pub mod edit;
mod merge;
mod operations;
mod performed;
mod split;
mod tables;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use merge::merge;
pub use operations::{compress_before, compress_engagement, extract_engagement, in_whole};
pub use performed::{Performed, command};
pub use split::split;

use base::clock::Time;
use sessions::model::refuses_changed_thinking;
use sessions::operation::Fidelity;
use sessions::round::{Round, Session};
use sessions::sent::State;

/// A piece of the new session, in order. Sessions are numbered as in [`Plan::sessions`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Piece {
    /// A message of the user with the index table of these rounds.
    Index(Vec<Place>),
    /// A round with its rows.
    Round(Place),
    /// The summary that a compaction left, without the rest of its round.
    Summary(Place),
}

impl Piece {
    /// The round that is there whole.
    fn whole(&self) -> Option<Place> {
        match self {
            Self::Round(place) => Some(*place),
            Self::Index(_) | Self::Summary(_) => None,
        }
    }
}

/// A round of one of the plan's sessions, or of [`Plan::origins`], which are numbered after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// Which session.
    pub session: usize,
    /// Which round of it.
    pub seq: u32,
}

impl Place {
    /// A round of the first session.
    fn first(seq: u32) -> Self {
        Self { session: 0, seq }
    }
}

/// What the new session will have in it, and where that comes from.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Plan {
    /// What is done.
    #[serde(flatten)]
    pub operation: Performed,
    /// The sessions it is made from.
    #[serde(skip)]
    pub sessions: Vec<Session>,
    /// Further sessions, of which its tables name rounds.
    #[serde(skip)]
    pub origins: Vec<Session>,
    /// The folder in which it goes on, if not the one in which its first session began.
    #[serde(skip)]
    pub folder: Option<String>,
    /// Its pieces, in order.
    pub pieces: Vec<Piece>,
    /// Requested rounds that are not in it.
    pub left: Left,
    /// How much of each whole round stays.
    pub fidelity: Fidelity,
    /// Whole rounds of which less stays, and how much.
    #[serde(skip)]
    pub shrunk: BTreeMap<Place, Fidelity>,
    /// Whether a session made from several begins with a message about which rounds are from which,
    /// so that the reader can tell the voices apart.
    pub voices: bool,
    /// Its metadata.
    pub lineage: Lineage,
}

impl Plan {
    fn new(
        operation: Performed,
        sessions: Vec<Session>,
        pieces: Vec<Piece>,
        left: Left,
        fidelity: Fidelity,
    ) -> Self {
        let lineage = Lineage::of(&operation, &sessions);
        Self { operation, sessions, pieces, left, fidelity, lineage, ..Self::default() }
    }

    /// A round of the plan, with its session.
    pub fn at(&self, place: Place) -> Option<(&Session, &Round)> {
        let session = self.sessions.iter().chain(&self.origins).nth(place.session)?;
        Some((session, session.round(place.seq)?))
    }

    /// The whole rounds that a split tags, because they have no tag or another one.
    pub fn retagged(&self) -> impl Iterator<Item = &Round> {
        let engagement = self.operation.child();
        let rounds = self.whole().filter_map(|place| self.at(place)).map(|(_, round)| round);
        rounds.filter(move |round| {
            engagement.is_some() && round.is_work() && round.engagement.as_deref() != engagement
        })
    }

    /// Leaves rewound rounds out of the index tables.
    pub fn omit_rewound(&mut self) {
        let sessions = &self.sessions;
        let is_rewound = |place: &Place| {
            let round = sessions.get(place.session).and_then(|session| session.round(place.seq));
            round.is_some_and(|round| round.standing.state == State::Rewound)
        };
        for piece in &mut self.pieces {
            if let Piece::Index(places) = piece {
                self.left.rewound.extend(places.extract_if(.., |place| is_rewound(place)));
            }
        }
        self.pieces.retain(|piece| !matches!(piece, Piece::Index(places) if places.is_empty()));
    }

    /// How much of a whole round stays.
    pub fn fidelity_of(&self, place: Place) -> Fidelity {
        self.shrunk.get(&place).copied().unwrap_or(self.fidelity)
    }

    /// How many pieces at the beginning are those of the first session's context, unchanged.
    pub fn unchanged(&self) -> usize {
        let context = self.sessions.first().map(Session::in_context).unwrap_or_default();
        let is_same = |(piece, seq): &(&Piece, u32)| {
            let place = Place::first(*seq);
            !self.voices && **piece == Piece::Round(place) && self.fidelity_of(place).is_full()
        };
        self.pieces.iter().zip(context).take_while(is_same).count()
    }

    /// The model that refuses the thinking behind a change, if one of its sessions has such a model.
    pub fn refuses_thinking(&self) -> Option<&str> {
        let models = self.sessions.iter().filter_map(|session| session.model.as_deref());
        models
            .filter(|_| !self.fidelity.keeps_refused)
            .find(|model| refuses_changed_thinking(model))
    }

    /// How many pieces at the beginning keep their thinking: those that neither the plan nor the
    /// client changed since.
    pub fn with_thinking(&self) -> usize {
        self.unchanged().min(self.sessions.first().map_or(0, Session::in_order))
    }

    /// The whole rounds whose thinking is left out, because it is behind a change.
    pub fn without_thinking(&self) -> BTreeSet<Place> {
        let is_refused = self.refuses_thinking().is_some();
        let from = if is_refused { self.with_thinking() } else { usize::MAX };
        let behind = self.pieces.iter().skip(from);
        behind.filter_map(Piece::whole).collect()
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

    /// The whole rounds, in order.
    pub fn whole(&self) -> impl Iterator<Item = Place> {
        self.pieces.iter().filter_map(Piece::whole)
    }

    /// The compactions of which the summary stays.
    pub fn summaries(&self) -> impl Iterator<Item = Place> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Summary(place) => Some(*place),
            Piece::Index(_) | Piece::Round(_) => None,
        })
    }

    /// The number of rows in the whole rounds.
    pub fn rows(&self) -> usize {
        self.whole().filter_map(|place| self.at(place)).map(|(_, round)| round.rows as usize).sum()
    }

    /// Bytes of the largest round of its sessions, for buffers: one that grows step by step needs
    /// twice the memory.
    pub fn largest(&self) -> usize {
        let rounds = self.sessions.iter().flat_map(|session| &session.rounds);
        rounds.map(|round| round.bytes as usize).max().unwrap_or_default()
    }

    /// The rounds in index tables, in order.
    pub fn indexed(&self) -> impl Iterator<Item = Place> {
        let tables = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Index(places) => Some(places),
            Piece::Round(_) | Piece::Summary(_) => None,
        });
        tables.flatten().copied()
    }
}

/// Rounds of the sources that are neither whole nor indexed in the new session, although the
/// operation did not leave them out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Left {
    /// A rewind removed them.
    pub rewound: Vec<Place>,
    /// A compaction removed them from the context.
    pub compacted: Vec<Place>,
    /// The client does not find them: a row behind them names a parent that is not there.
    pub cut: Vec<Place>,
    /// The other session of a merge has them, too.
    pub doubled: Vec<Place>,
    /// A list said so.
    pub dropped: Vec<Place>,
}

impl Left {
    /// Sorts the rounds of `seqs` that are not in `taken` by why they are no longer there.
    fn of(session: &Session, number: usize, seqs: &[u32], taken: &[u32]) -> Self {
        let taken: BTreeSet<u32> = taken.iter().copied().collect();
        let mut left = Self::default();
        for seq in seqs.iter().copied().filter(|seq| !taken.contains(seq)) {
            let state = session.round(seq).map(|round| round.standing.state);
            let place = Place { session: number, seq };
            match state.unwrap_or_default() {
                State::InContext | State::Compacted => left.compacted.push(place),
                State::Rewound => left.rewound.push(place),
                State::Cut => left.cut.push(place),
            }
        }
        left
    }
}

/// The new session's metadata.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lineage {
    /// The session it was made from; for a merge, the earlier one.
    pub parent_session: String,
    /// All sessions it was made from.
    pub sources: Vec<String>,
    /// The earliest start.
    pub started: Option<Time>,
    /// The latest end.
    pub ended: Option<Time>,
    /// The number of rounds in all sources.
    pub rounds: usize,
    /// Its engagement; if it is not for one, those of all sources.
    pub engagements: Vec<String>,
}

impl Lineage {
    /// The metadata of a session made from these; the first is its parent.
    fn of(operation: &Performed, sessions: &[Session]) -> Self {
        let rounds = || sessions.iter().flat_map(|s| &s.rounds);
        let started = sessions.iter().filter_map(|s| s.started);
        let ended = sessions.iter().filter_map(|s| s.ended);
        let engagements: BTreeSet<&str> = match operation.only() {
            Some(engagement) => [engagement].into(),
            None => rounds().filter_map(|r| r.engagement.as_deref()).collect(),
        };
        Self {
            parent_session: sessions.first().map(|s| s.id.clone()).unwrap_or_default(),
            sources: sessions.iter().map(|s| s.id.clone()).collect(),
            started: started.chain(rounds().filter_map(|r| r.started)).min(),
            ended: ended.chain(rounds().filter_map(|r| r.ended)).max(),
            rounds: rounds().count(),
            engagements: engagements.into_iter().map(str::to_owned).collect(),
        }
    }
}

/// Why an operation is refused. Each says what was wrong, and what there is.
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
        /// The engagement that was requested.
        engagement: String,
        /// The engagements there are, or `none`.
        there: String,
    },
    /// The map cannot be followed.
    #[error("{key}: {fault}")]
    Map {
        /// The key.
        key: String,
        /// What is wrong with it.
        fault: String,
    },
    /// The sessions cannot be merged.
    #[error("{0}")]
    Sessions(String),
}
