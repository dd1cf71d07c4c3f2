//! Estimates the tokens that an extraction frees. A vocabulary counts a sample, and the session's
//! own responses calibrate the count.

use std::io;

use super::planned::{Amounts, Planned};
use super::preview::Preview;
use super::read::Read;
use super::source::{Kind, Source};
use crate::tokens::Counter;
use extract::placeholder;
use extract::plan::{Item, Plan};
use extract::when::Look;
use sessions::cost::Cost;
use sessions::dialect::{self, Scratch};
use sessions::digest::Digest;
use sessions::round::Session;
use surgery::context::Context;

/// Characters per token, if nothing was counted.
const CHARACTERS: u64 = 4;

/// Tokens of a placeholder, if nothing was counted.
const PLACEHOLDER: u64 = 60;

/// What a placeholder begins with, and characters that it shows of its value.
const TYPICAL: &str = "[[extracted-3f0a9d1e]] 8.9 KB of Bash #5ba1f00d: ";
const SHOWN: usize = 100;

/// How much a plan takes out of a session.
pub fn amounts(source: &Source, read: &Read, plan: &Plan) -> Amounts {
    let (mut bytes, mut saved, mut placeholders) = (0, 0, 0);
    for item in &plan.items {
        let length = (item.span.end - item.span.start) as u64;
        let placeholder = placeholder_size(source, item);
        bytes += length.saturating_sub(placeholder);
        if item.sent {
            saved += u64::from(item.chars);
            placeholders += u64::from(placeholder > 0);
        }
    }
    let first = plan.items.iter().find(|item| item.sent).map(|item| item.row);
    let behind = first.map_or(0, |first| {
        let entries = read.entries.iter().filter(|e| e.in_context && e.row >= first);
        let values = entries.flat_map(|entry| &entry.values).filter(|value| !value.copy);
        values.map(|value| u64::from(value.chars)).sum()
    });
    Amounts { bytes, saved, placeholders, behind }
}

/// The bytes of the placeholder for a long value.
fn placeholder_size(source: &Source, item: &Item) -> u64 {
    // A new Claude Code session keeps no placeholder for a whole block.
    let leaves_nothing = item.whole && source.kind == Kind::Claude;
    if leaves_nothing { 0 } else { placeholder::length(item.whole) as u64 }
}

/// The facts about a session and its prompt cache, with estimated tokens.
pub fn look(read: &Read, plan: &Plan, amounts: Amounts) -> Look {
    to_facts(read, plan, amounts, PLACEHOLDER, |characters| characters / CHARACTERS)
}

/// `placeholder` is the tokens of one.
fn to_facts(
    read: &Read,
    plan: &Plan,
    of: Amounts,
    placeholder: u64,
    tokens: impl Fn(u64) -> u64,
) -> Look {
    Look {
        last: read.last,
        values: plan.items.len() as u64,
        bytes: of.bytes,
        saved: tokens(of.saved).saturating_sub(of.placeholders * placeholder),
        behind: tokens(of.behind),
        cache: read.tail.cache(),
    }
}

/// The cost of an extraction: the same context as for surgery, without the values.
///
/// # Errors
/// A session that cannot be read.
pub fn cost(source: &Source, planned: &Planned) -> io::Result<Cost> {
    let Planned { look, cold, .. } = planned;
    let context = Context::of(&session(source)?);
    Ok(Cost {
        base: context.base,
        before: context.now,
        after: context.without(look.saved),
        behind: look.behind.min(context.in_rounds()),
        cache: look.cache,
        cold: *cold,
    })
}

/// The rounds of a session, and what its responses measured.
fn session(source: &Source) -> io::Result<Session> {
    let (mut digest, mut scratch) = (Digest::default(), Scratch::default());
    let mut session = Session { dialect: dialect_of(source).to_owned(), ..Session::default() };
    let Some(dialect) = dialect::named(&session.dialect) else { return Ok(session) };
    source.file.rows(&mut |_, line| {
        let row = dialect.row(line, &mut scratch);
        let ended = digest.row(dialect, &row, line, scratch.blocks());
        session.rounds.extend(ended.map(|(round, _)| round));
        Ok(())
    })?;
    session.rounds.extend(digest.open().map(|(round, _)| round));
    (session.base, session.used) = (digest.base(), digest.context());
    Ok(session)
}

fn dialect_of(source: &Source) -> &'static str {
    if source.kind == Kind::Claude { "claude" } else { "pi" }
}

/// The same facts with tokens counted and calibrated.
pub fn counted(source: &Source, planned: &Planned, preview: &Preview) -> Look {
    let Planned { read, plan, amounts, .. } = planned;
    if preview.characters == 0 {
        return look(read, plan, *amounts);
    }
    let in_context = |row| read.entry(row).is_some_and(|entry| entry.in_context);
    let counter = Counter::default();
    let worth = dialect::named(dialect_of(source))
        .map_or(1.0, |dialect| read.tail.calibration(dialect, &counter, &in_context).factor());
    let counted = counter.count(&preview.sample);
    let per = counted as f64 / preview.characters as f64 * worth;
    // Ids and digests take more tokens than the text does.
    let shown: String = preview.sample.chars().take(SHOWN).collect();
    let placeholder = counter.count(&format!("{TYPICAL}«{shown}…»")) as f64 * worth;
    let tokens = |characters| (characters as f64 * per).round() as u64;
    to_facts(read, plan, *amounts, placeholder.round() as u64, tokens)
}
