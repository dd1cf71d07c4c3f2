//! Estimates the tokens that an extraction frees. A vocabulary counts a sample, and the session's
//! own responses calibrate the count.

use super::planned::{Amounts, Planned};
use super::preview::Preview;
use super::read::Read;
use super::source::{Kind, Source};
use crate::tokens::Counter;
use extract::placeholder::{self, About};
use extract::plan::{Item, Plan};
use extract::when::Look;
use sessions::dialect;
use sessions::settings::{ExtractSettings, Placeholder};

/// Characters per token, if nothing was counted.
const CHARACTERS: u64 = 4;

/// How much a plan takes out of a session.
pub fn amounts(source: &Source, settings: &ExtractSettings, read: &Read, plan: &Plan) -> Amounts {
    let (mut bytes, mut saved) = (0, 0);
    for item in &plan.items {
        let chars = u64::from(item.chars);
        let length = (item.span.end - item.span.start) as u64;
        let (frame, shown) = placeholder_size(source, settings, item);
        let shown = shown.min(chars);
        // Estimates the bytes of the kept text, at most four per character: a signature adds bytes
        // but no characters.
        let of_text = (shown * length).checked_div(chars).unwrap_or(0).min(4 * shown);
        bytes += length.saturating_sub(frame + of_text);
        saved += if item.sent { chars.saturating_sub(frame + shown) } else { 0 };
    }
    let first = plan.items.iter().find(|item| item.sent).map(|item| item.row);
    let behind = first.map_or(0, |first| {
        let entries = read.entries.iter().filter(|e| e.in_context && e.row >= first);
        let values = entries.flat_map(|entry| &entry.values).filter(|value| !value.copy);
        values.map(|value| u64::from(value.chars)).sum()
    });
    Amounts { bytes, saved, behind }
}

/// The size of a placeholder: its bytes without the text it shows, and the most characters of that
/// text.
fn placeholder_size(source: &Source, settings: &ExtractSettings, item: &Item) -> (u64, u64) {
    // A new Claude Code session keeps no placeholder for a whole block.
    if item.whole && source.kind == Kind::Claude {
        return (0, 0);
    }
    let (tool, session) = (item.tool.as_deref(), source.session.as_str());
    let about = About { entry: &item.entry, session, tool, json: b"", keep: item.keep };
    let frame = placeholder::frame(&about, settings.placeholder, item.whole) as u64;
    match settings.placeholder {
        Placeholder::Plain => (frame, 0),
        Placeholder::Full => (frame, u64::from(item.keep + placeholder::tail(item.keep))),
    }
}

/// The facts about a session and its prompt cache, with estimated tokens.
pub fn look(read: &Read, plan: &Plan, amounts: Amounts) -> Look {
    to_facts(read, plan, amounts, |characters| characters / CHARACTERS)
}

fn to_facts(read: &Read, plan: &Plan, of: Amounts, tokens: impl Fn(u64) -> u64) -> Look {
    Look {
        last: read.last,
        values: plan.items.len() as u64,
        bytes: of.bytes,
        saved: tokens(of.saved),
        behind: tokens(of.behind),
    }
}

/// The same facts with tokens counted and calibrated.
pub fn counted(source: &Source, planned: &Planned, preview: &Preview) -> Look {
    let Planned { read, plan, amounts, .. } = planned;
    let characters = preview.sample.chars().count() as u64;
    if characters == 0 {
        return look(read, plan, *amounts);
    }
    let named = if source.kind == Kind::Claude { "claude" } else { "pi" };
    let in_context = |row| read.entry(row).is_some_and(|entry| entry.in_context);
    let counter = Counter::default();
    let worth = dialect::named(named)
        .map_or(1.0, |dialect| read.tail.calibration(dialect, &counter, &in_context).factor());
    let counted = counter.count(&preview.sample);
    let per = counted as f64 / characters as f64 * worth;
    to_facts(read, plan, *amounts, |characters| (characters as f64 * per).round() as u64)
}
