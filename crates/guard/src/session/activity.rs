//! What a session is doing, as its user sees it.

use serde::{Deserialize, Serialize};

/// What a session is doing, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activity {
    /// Only its user can go on.
    WaitsForYou,
    /// A turn runs, and no response has come for long.
    StandsStill,
    /// Its turn is over.
    TurnOver,
    /// It restarts from its notes soon.
    Restarts,
    /// A turn runs.
    Works,
    /// It has had no prompt yet.
    Idle,
}

impl Activity {
    /// Its name in texts.
    pub fn words(self) -> &'static str {
        match self {
            Self::WaitsForYou => "waits for you",
            Self::StandsStill => "stands still",
            Self::TurnOver => "turn over",
            Self::Restarts => "restarts",
            Self::Works => "works",
            Self::Idle => "no prompt yet",
        }
    }

    /// Whether it needs its user.
    pub fn needs_you(self) -> bool {
        self <= Self::TurnOver
    }
}
