//! The text that stands in a value's place. What counts as one is decided by the ledger, never
//! by how a text looks.

use crate::settings::Placeholder;

/// Bytes that a value must get shorter by.
pub const GAIN: usize = 100;

/// What a placeholder tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About<'a> {
    /// The entry.
    pub entry: &'a str,
    /// The session, as `extract restore` takes it.
    pub session: &'a str,
    /// The tool, where there is one.
    pub tool: Option<&'a str>,
    /// The value's JSON, as it stands in the row.
    pub json: &'a [u8],
}

/// The JSON that is put in the value's place: a string; for a block that goes whole, a text
/// block of the dialect. `None` where that gains too little.
pub fn json(_about: &About, _form: Placeholder, _whole: bool) -> Option<Vec<u8>> {
    todo!()
}
