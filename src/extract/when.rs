//! Whether an extraction pays (`SESSION_FORMATS`: an edit throws away the prompt cache behind
//! it): when the cache has expired anyway, or within a number of turns.

use crate::clock::Time;
use crate::settings::ExtractSettings;

/// What is known of a session when it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// When its last row was written.
    pub last: Option<Time>,
    /// Tokens of the context behind the first change.
    pub behind: u64,
    /// Tokens that leave the context.
    pub saved: u64,
}

/// Why it acts, or waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The cache has expired.
    Cold,
    /// It pays within so many turns.
    Pays(u32),
    /// It would pay after so many turns only; none: never.
    Waits(Option<u32>),
    /// There is nothing to extract.
    Nothing,
    /// The settings say: at every look.
    Interval,
}

/// Turns after which an edit with `saved` of `behind` tokens has paid: `11.5 · (T − S) / S`.
pub fn break_even(_behind: u64, _saved: u64) -> Option<u32> {
    todo!()
}

/// Whether to act.
pub fn verdict(_look: &Look, _settings: &ExtractSettings, _now: Time) -> Verdict {
    todo!()
}
