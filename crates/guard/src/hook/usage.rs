//! Warns the user about a session whose responses carry no token counts.

use super::facts::{Context, Facts};
use crate::texts::{Text, render};

/// The user is told after this many responses without a count.
const RESPONSES: u32 = 5;

/// Counts a response without token counts. Returns the line for the user once, if the first five
/// had none.
pub fn unknown(facts: &mut Facts, context: Option<&Context>) -> Option<String> {
    let session = &facts.session;
    if context.is_some() || session.reading.is_some() || session.limits.uncounted >= RESPONSES {
        return None;
    }
    let uncounted = session.limits.uncounted + 1;
    facts.update(|s| s.limits.uncounted = uncounted);
    let responses = RESPONSES.to_string();
    let text = || render(&facts.places, Text::UserUnknown, &[("responses", &responses)]);
    (uncounted == RESPONSES).then(text)
}
