//! What an extraction frees in tokens: counted on a part of what goes, by a vocabulary, and
//! calibrated by what the session's own responses used.

use super::preview::Preview;
use super::read::Read;
use super::source::{Kind, Source};
use crate::extract::plan::Plan;
use crate::extract::when::Look;
use crate::tokens::Counter;
use crate::transcript::dialect;

/// Characters of a token, where nothing was counted.
const CHARACTERS: u64 = 4;

/// Characters that a placeholder takes itself.
const PLACEHOLDER: u64 = 400;

/// Characters that a plan takes out of the context, and those that lie behind the first of
/// them in it.
fn characters(read: &Read, plan: &Plan) -> (u64, u64) {
    let mut saved = 0;
    for item in plan.items.iter().filter(|item| item.sent) {
        let value = read
            .entry(item.row)
            .and_then(|entry| entry.values.iter().find(|value| value.key == item.key));
        saved += value.map_or(0, |value| u64::from(value.chars).saturating_sub(PLACEHOLDER));
    }
    let first = plan.items.iter().find(|item| item.sent).map(|item| item.row);
    let behind = first.map_or(0, |first| {
        let entries = read.entries.iter().filter(|e| e.in_context && e.row >= first);
        let values = entries.flat_map(|entry| &entry.values).filter(|value| !value.copy);
        values.map(|value| u64::from(value.chars)).sum()
    });
    (saved, behind)
}

/// What is known of the session and its prompt cache, without counting.
pub fn look(read: &Read, plan: &Plan) -> Look {
    let (saved, behind) = characters(read, plan);
    Look { last: read.last, saved: saved / CHARACTERS, behind: behind / CHARACTERS }
}

/// The same in the session's own tokens.
pub fn counted(source: &Source, read: &Read, plan: &Plan, preview: &Preview) -> Look {
    let (saved, behind) = characters(read, plan);
    let counter = Counter::default();
    let counted = counter.count(&preview.sample);
    let characters = preview.sample.chars().count() as u64;
    if counted == 0 || characters == 0 {
        return look(read, plan);
    }
    let named = if source.kind == Kind::Claude { "claude" } else { "pi" };
    let in_context = |row| read.entry(row).is_some_and(|entry| entry.in_context);
    let worth = dialect::named(named)
        .map_or(1.0, |dialect| read.tail.calibration(dialect, &counter, &in_context).factor());
    let per = counted as f64 / characters as f64 * worth;
    let tokens = |characters: u64| (characters as f64 * per).round() as u64;
    Look { last: read.last, saved: tokens(saved), behind: tokens(behind) }
}
