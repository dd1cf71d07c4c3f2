//! Tells the user of a resumed session that the API will refuse it again.

use std::ops::ControlFlow;

use super::facts::Facts;
use base::tail;
use sessions::refusal::Refusal;
use sessions::span;

/// How far back the last answer is looked for.
const ROWS: usize = 100;

/// The line for the user of a session that the API will refuse again.
pub fn line(facts: &Facts) -> Option<String> {
    let (mut last, mut rows) = (None, 0);
    // A transcript that can't be read is no reason to say anything.
    let _ = tail::lines_backwards(facts.transcript.as_ref()?, |line| {
        rows += 1;
        if span::find(line, "type") == Some(b"\"assistant\"") {
            last = Refusal::of_row(line);
            return ControlFlow::Break(());
        }
        if rows < ROWS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let (why, id) = (last?.words(), facts.id);
    Some(format!(
        "brain-guard: this session ended in an API error: {why}. End it, and run `brain-guard mend \
         {id}` in a terminal: it makes a session without that."
    ))
}
