//! Estimates the tokens that an extraction frees. A vocabulary counts a sample of the values,
//! calibrated by their rounds; the rest is extrapolated.

use super::extracted::Chosen;
use super::numbers::{READ, SAMPLE, blocks};
use crate::tokens::{Calibration, Counter};
use extract::plan::Item;
use sessions::cost::Cost;
use sessions::dialect::{self, BlockKind, Scratch};
use sessions::settings::Placeholder;
use sessions::span;
use store::blocks::{Reader, Rows};
use surgery::plan::{Place, Plan};

/// The cost of a plan that keeps its rounds, without the chosen values.
///
/// # Errors
/// Blocks that cannot be read.
pub fn of(cost: Cost, plan: &Plan, chosen: &Chosen, readers: &[Reader]) -> anyhow::Result<Cost> {
    let Some(first) = chosen.rounds.first() else { return Ok(cost) };
    let counter = Counter::default();
    let (mut scratch, mut rows) = (Scratch::default(), Rows::default());
    let (mut tokens, mut bytes, mut read) = (0, 0, 0);
    let (mut measured, mut against) = (0, 0);
    for seq in chosen.rounds.iter().rev() {
        if bytes >= SAMPLE || read >= READ {
            break;
        }
        let Some((session, round)) = plan.at(Place { session: 0, seq: *seq }) else { continue };
        let Some(dialect) = dialect::named(&session.dialect) else { continue };
        readers[0].round(round.seq, &mut rows)?;
        read += rows.bytes.len();
        if round.measured {
            blocks(dialect, &rows, |kind, json| against += counter.of_block(kind, json));
            measured += round.tokens;
        }
        for line in rows.iter() {
            let row = dialect.row(line, &mut scratch);
            for item in row.id.map_or(&[][..], |id| chosen.of(id)) {
                let json = item.span.slice(line);
                bytes += json.len();
                tokens += words(&counter, item, json).saturating_sub(left(chosen.form, item));
            }
        }
    }
    let all = chosen.items().iter().map(|item| item.span.end - item.span.start);
    let part = all.sum::<usize>() as f64 / bytes.max(1) as f64;
    let freed = Calibration::of(measured, against).apply(tokens) as f64 * part;
    let behind = plan.whole().filter(|place| place.seq >= *first);
    let behind = behind.filter_map(|place| plan.at(place)).map(|(_, round)| round.tokens).sum();
    Ok(Cost { after: cost.before.saturating_sub(freed.round() as u64), behind, ..cost })
}

/// Tokens of a value.
fn words(counter: &Counter, item: &Item, json: &[u8]) -> u64 {
    match span::text(json) {
        Some(text) => counter.count(&text),
        None if item.whole => counter.of_block(BlockKind::Thinking, json),
        None => counter.count(&String::from_utf8_lossy(json)),
    }
}

/// Tokens of its placeholder.
fn left(form: Placeholder, item: &Item) -> u64 {
    match form {
        _ if item.whole => 0,
        Placeholder::Full => 150,
        Placeholder::Plain => 25,
    }
}
