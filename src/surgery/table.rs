//! The index table: one line a round (seed 000, "compress-before").

use crate::transcript::round::Round;

/// One line of the table, as in the seed:
/// `| 047 | 2026-03-19T10:23Z | user→assistant | [tool_use: Agent·Read console] → "The architecture is..." |`
pub fn line(round: &Round) -> String {
    let _ = round;
    todo!()
}
