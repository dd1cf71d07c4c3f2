//! What surgery and extraction can do with a session, as values. A verb reads one from its
//! arguments, a running session keeps one until the user agrees, and one pipeline performs it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::round::Session;
use base::when::When;

/// An operation, and what it keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The operation.
    pub operation: Operation,
    /// How much of each whole round stays.
    pub fidelity: Fidelity,
    /// Whether rewound rounds stay out of the index tables.
    pub no_rewound: bool,
}

impl From<Operation> for Order {
    fn from(operation: Operation) -> Self {
        Self { operation, fidelity: Fidelity::default(), no_rewound: false }
    }
}

/// An operation on a session. It makes a new one, or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Rounds before a time or a round become index lines.
    CompressBefore(When),
    /// Rounds of an engagement become index lines.
    CompressEngagement(String),
    /// Only the rounds of an engagement stay.
    ExtractEngagement(String),
    /// The rounds of another session are inserted, by time.
    Merge {
        /// The other session, as a user names it.
        with: String,
        /// Whether it begins with a table that says which rounds are from which session.
        has_table: bool,
    },
    /// A session for each engagement: of a map, else of the tags.
    Split(Option<Map>),
    /// Each round gets the fate that a list gives it.
    Edit(Fates),
    /// Long values of old messages move to the store, and placeholders replace them (seed 001,
    /// "Keep Recent, Extract Old").
    Extract(Extraction),
}

/// Which values an extraction takes. The settings decide where a field is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extraction {
    /// Messages at the end that stay.
    pub keep_recent: Option<u32>,
    /// Least characters of a value that is extracted.
    pub min_length: Option<u32>,
    /// The kinds of values that are extracted.
    pub types: Vec<String>,
}

/// The map of a split: ranges of rounds for each engagement. Rounds of no engagement are shared.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Map {
    /// The ranges of each engagement.
    pub engagements: BTreeMap<String, Vec<RangeInclusive<u32>>>,
    /// The ranges that are named as shared.
    pub shared: Vec<RangeInclusive<u32>>,
}

impl Map {
    /// The map of the tags that rounds have; `None` without any.
    pub fn by_tag(session: &Session) -> Option<Self> {
        let mut map = Self::default();
        let branch = session.on_branch();
        let rounds = branch.iter().filter_map(|seq| session.round(*seq));
        for round in rounds.filter(|round| round.is_work()) {
            if let Some(id) = &round.engagement {
                map.engagements.entry(id.clone()).or_default().push(round.seq..=round.seq);
            }
        }
        (!map.engagements.is_empty()).then_some(map)
    }
}

/// The fate of each round that a list names. The others stay.
pub type Fates = BTreeMap<u32, Fate>;

/// What becomes of a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It stays.
    Keep,
    /// It becomes a line of a table.
    Index,
    /// It stays, with a line in place of each result of a tool.
    Shrink,
    /// It is left out.
    Drop,
    /// It goes into a session of its own with the rounds of this engagement.
    Engagement(String),
}

/// How much of a kind of block stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// All of it.
    #[default]
    Full,
    /// Less, with a hint how to read the rest. Thinking: a note in the round's prompt. Calls: long
    /// values are shortened to their beginning. Results: size and first line.
    Summary,
    /// Nothing. Results of omitted calls go, too.
    Omit,
}

/// How much of each kind of block stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Fidelity {
    /// Thinking blocks.
    pub thinking: Level,
    /// Tool calls.
    pub tool_use: Level,
    /// Results of tool calls.
    pub tool_result: Level,
    /// Thinking behind a change stays even where the model refuses it.
    pub keeps_refused: bool,
}

impl Fidelity {
    /// Whether everything stays as it is.
    pub fn is_full(self) -> bool {
        let Self { thinking, tool_use, tool_result, keeps_refused: _ } = self;
        [thinking, tool_use, tool_result] == [Level::Full; 3]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_survives_json() {
        let map =
            Map { engagements: [("a".to_owned(), vec![1..=3, 5..=5])].into(), shared: vec![4..=4] };
        let at = When::At(base::when::time("2026-03-19T10:23+01:00").unwrap());
        let fates = [Fate::Keep, Fate::Index, Fate::Shrink, Fate::Drop];
        let fates = fates.into_iter().chain([Fate::Engagement("b".to_owned())]);
        let extraction = Extraction {
            keep_recent: Some(0),
            min_length: None,
            types: vec!["thinking".to_owned()],
        };
        for operation in [
            Operation::CompressBefore(at),
            Operation::CompressBefore(When::Round(16)),
            Operation::CompressEngagement("a".to_owned()),
            Operation::ExtractEngagement("a".to_owned()),
            Operation::Merge { with: "3f0a9d1e".to_owned(), has_table: true },
            Operation::Split(None),
            Operation::Split(Some(map)),
            Operation::Edit((1..).zip(fates).collect()),
            Operation::Extract(Extraction::default()),
            Operation::Extract(extraction),
        ] {
            let fidelity = Fidelity { tool_result: Level::Omit, ..Fidelity::default() };
            let order = Order { operation, fidelity, no_rewound: true };
            let json = serde_json::to_string(&order).unwrap();
            assert_eq!(serde_json::from_str::<Order>(&json).unwrap(), order, "{json}");
        }
    }
}
