//! Whether a value is extracted, and if not, why (seed 001, "Trigger Conditions").

use crate::clock::Time;
use crate::extract::entry::{Entry, Value};
use crate::settings::ExtractSettings;

/// Why a value stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stays {
    /// Among the recent messages.
    Recent,
    /// Shorter than `min_value_length`.
    Short,
    /// Of a type that is not extracted.
    Type,
    /// The entry says `_extractable: false`, or how long it stays.
    Said,
    /// It was restored not long ago.
    Restored,
    /// Its tool is protected.
    Tool,
    /// The first message of the user.
    First,
    /// Of the last turns of the agent.
    Turn,
    /// An error.
    Error,
    /// It is a placeholder already.
    Placeholder,
    /// The placeholder would not be shorter.
    NoGain,
}

/// Where an entry stands in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Messages behind it.
    pub from_end: u32,
    /// The first message of the user.
    pub first: bool,
    /// Turns of the agent behind it: 0 in the last one.
    pub turns: u32,
}

/// Whether `value` of `entry` is extracted.
///
/// # Errors
/// Why it stays.
pub fn extracted(
    _entry: &Entry,
    _value: &Value,
    _at: Position,
    _settings: &ExtractSettings,
    _now: Time,
) -> Result<(), Stays> {
    todo!()
}

/// The positions of entries, in their order.
pub fn positions(_entries: &[Entry]) -> Vec<Position> {
    todo!()
}
