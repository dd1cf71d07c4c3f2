//! What a restore changes in a row, and what it answers (seed 001, "Restore Mechanism").

use serde::Serialize;

use crate::clock::Time;

/// What a restore answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Always.
    pub restored: bool,
    /// The entry.
    pub entry_id: String,
    /// The keys that came back.
    pub keys_restored: Vec<String>,
    /// When it was restored before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_restored_at: Option<Time>,
    /// What to do instead, where it was restored before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// The row with values put back: `(key, raw JSON)`, and marked with when; `None` as time marks
/// nothing. `Err` names the key that is not there.
///
/// # Errors
/// A key that the row has not.
pub fn row(
    _line: &[u8],
    _values: &[(String, Vec<u8>)],
    _at: Option<Time>,
) -> Result<Vec<u8>, String> {
    todo!()
}

/// The row whose tool call asked for a restore of `entry`, redacted; `None` where it holds no
/// such call.
pub fn redacted(_line: &[u8], _entry: &str) -> Option<Vec<u8>> {
    todo!()
}
