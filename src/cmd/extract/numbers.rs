//! What an extraction frees in tokens: counted on a part of what goes, by a vocabulary, and
//! calibrated by what the session's own responses used.

use super::preview::Preview;
use super::read::Read;
use super::source::{Kind, Source};
use crate::extract::placeholder;
use crate::extract::plan::Plan;
use crate::extract::when::Look;
use crate::tokens::Counter;
use crate::transcript::dialect;

/// Characters of a token, where nothing was counted.
const CHARACTERS: u64 = 4;

/// Characters that a placeholder takes besides what it shows of the value.
const PLACEHOLDER: u64 = 160;

/// Characters that a plan takes out.
#[derive(Clone, Copy)]
struct Characters {
    /// Of the file.
    all: u64,
    /// Of the context.
    saved: u64,
    /// What lies behind the first of these in the context, with them.
    behind: u64,
}

fn characters(read: &Read, plan: &Plan) -> Characters {
    let (mut all, mut saved) = (0, 0);
    for item in &plan.items {
        let value = read
            .entry(item.row)
            .and_then(|entry| entry.values.iter().find(|value| value.key == item.key));
        let stays = PLACEHOLDER + u64::from(item.keep + placeholder::tail(item.keep));
        let less = value.map_or(0, |value| u64::from(value.chars).saturating_sub(stays));
        all += less;
        saved += if item.sent { less } else { 0 };
    }
    let first = plan.items.iter().find(|item| item.sent).map(|item| item.row);
    let behind = first.map_or(0, |first| {
        let entries = read.entries.iter().filter(|e| e.in_context && e.row >= first);
        let values = entries.flat_map(|entry| &entry.values).filter(|value| !value.copy);
        values.map(|value| u64::from(value.chars)).sum()
    });
    Characters { all, saved, behind }
}

/// What is known of the session and its prompt cache, without counting.
pub fn look(read: &Read, plan: &Plan) -> Look {
    weighed(read, plan, characters(read, plan), |characters| characters / CHARACTERS)
}

fn weighed(read: &Read, plan: &Plan, of: Characters, tokens: impl Fn(u64) -> u64) -> Look {
    Look {
        last: read.last,
        values: plan.items.len() as u64,
        characters: of.all,
        saved: tokens(of.saved),
        behind: tokens(of.behind),
    }
}

/// The same in the session's own tokens.
pub fn counted(
    source: &Source,
    read: &Read,
    plan: &Plan,
    preview: &Preview,
    counter: &Counter,
) -> Look {
    let counted = counter.count(&preview.sample);
    let characters = preview.sample.chars().count() as u64;
    if counted == 0 || characters == 0 {
        return look(read, plan);
    }
    let named = if source.kind == Kind::Claude { "claude" } else { "pi" };
    let in_context = |row| read.entry(row).is_some_and(|entry| entry.in_context);
    let worth = dialect::named(named)
        .map_or(1.0, |dialect| read.tail.calibration(dialect, counter, &in_context).factor());
    let per = counted as f64 / characters as f64 * worth;
    let tokens = |characters: u64| (characters as f64 * per).round() as u64;
    weighed(read, plan, self::characters(read, plan), tokens)
}
