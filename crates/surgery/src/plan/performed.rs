//! What was done to make a session, and what each operation is called.

use serde::{Deserialize, Serialize};

use super::edit;
use crate::table::short;
use base::clock::Time;
use base::shown::local_minute;
use base::when::When;
use sessions::operation::Operation;
use sessions::round::Session;

/// What was done, of the session that it made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "kebab-case")]
pub enum Performed {
    /// Rounds before a time become index lines.
    CompressBefore {
        /// The time; for a cut at a round, when that round began.
        before: Time,
    },
    /// Rounds of an engagement become index lines.
    CompressEngagement {
        /// Its id.
        engagement: String,
    },
    /// Only the rounds of an engagement stay.
    ExtractEngagement {
        /// Its id.
        engagement: String,
    },
    /// What a list says of each round.
    #[default]
    Edit,
    /// Two sessions, by time.
    Merge,
    /// One child of a split.
    Split {
        /// The engagement of this child.
        engagement: String,
    },
    /// Long values of old messages move to the store, and placeholders replace them (seed 001,
    /// "Keep Recent, Extract Old").
    Extract {
        /// Messages at the end that stay.
        keep_recent: u32,
        /// Least characters of a value that is extracted.
        min_value_length: u32,
        /// The kinds of values that are extracted.
        trigger_types: Vec<String>,
    },
}

const EXTRACT: &str = "extract";

impl Performed {
    /// Its name in commands.
    pub fn name(&self) -> &'static str {
        match self {
            Self::CompressBefore { .. } => "compress-before",
            Self::CompressEngagement { .. } => "compress-engagement",
            Self::ExtractEngagement { .. } => "extract-engagement",
            Self::Edit => "edit",
            Self::Merge => "merge",
            Self::Split { .. } => "split",
            Self::Extract { .. } => EXTRACT,
        }
    }

    /// Whether `shown` is of an extraction, and not of `extract-engagement`.
    pub fn is_extraction(shown: &str) -> bool {
        shown.split(' ').next() == Some(EXTRACT)
    }

    /// In lists and above what it made: `compress-before 2026-03-19T10:23Z`.
    pub fn shown(&self) -> String {
        let name = self.name();
        match self {
            Self::CompressBefore { before } => format!("{name} {}", local_minute(Some(*before))),
            Self::CompressEngagement { engagement } | Self::ExtractEngagement { engagement } => {
                format!("{name} {engagement}")
            }
            Self::Split { engagement } => format!("{name}, for {engagement}"),
            Self::Edit | Self::Merge | Self::Extract { keep_recent: 0, .. } => name.to_owned(),
            Self::Extract { keep_recent, .. } => {
                format!("{name} (the last {keep_recent} messages stay)")
            }
        }
    }

    /// In the new session's title.
    pub fn in_title(&self) -> String {
        match self {
            Self::CompressBefore { before } => {
                format!("compressed before {}", before.format("%Y-%m-%d"))
            }
            Self::CompressEngagement { engagement } => format!("{engagement} compressed"),
            Self::ExtractEngagement { engagement } => format!("only {engagement}"),
            Self::Edit => "edited".to_owned(),
            Self::Merge => "merged".to_owned(),
            Self::Split { engagement } => format!("split: {engagement}"),
            Self::Extract { .. } => "extracted".to_owned(),
        }
    }

    /// What it does, where the rounds don't say it.
    pub fn effect(&self) -> Option<&'static str> {
        match self {
            Self::Extract { .. } => Some("long values of old messages become placeholders"),
            _ => None,
        }
    }

    /// The engagement that a split made it for.
    pub fn child(&self) -> Option<&str> {
        match self {
            Self::Split { engagement } => Some(engagement),
            _ => None,
        }
    }

    /// The only engagement of the new session.
    pub fn only(&self) -> Option<&str> {
        match self {
            Self::ExtractEngagement { engagement } => Some(engagement),
            _ => self.child(),
        }
    }
}

/// The command for an operation. The map of a split is left out.
pub fn command(session: &Session, operation: &Operation) -> String {
    let session = short(&session.id);
    let surgery = match operation {
        Operation::CompressBefore(When::Round(seq)) => {
            format!("compress-before {session} round:{seq}")
        }
        Operation::CompressBefore(When::At(moment)) => {
            format!("compress-before {session} {}", moment.at.to_rfc3339())
        }
        Operation::CompressEngagement(name) => format!("compress-engagement {session} {name}"),
        Operation::ExtractEngagement(name) => format!("extract-engagement {session} {name}"),
        Operation::Merge { with, .. } => format!("merge {session} {with}"),
        Operation::Split(None) => format!("split {session} --by-tag"),
        Operation::Split(Some(_)) => format!("split {session}"),
        Operation::Edit(fates) => {
            let lines = edit::lines(fates).join("\\n");
            return format!("printf '{lines}\\n' | brain-guard surgery edit {session} --plan -");
        }
        Operation::Extract(_) => return format!("brain-guard extract run {session}"),
    };
    format!("brain-guard surgery {surgery}")
}
