//! Tokens before and after. Rounds use what the session's responses measured. Index tables and
//! reduced rounds were never in a context, so a vocabulary counts them, calibrated by the measured
//! rounds.

use memchr::memmem;

use crate::tokens::{Calibration, Counter};
use base::clock::Time;
use sessions::cost::{Cost, Lifetime};
use sessions::dialect::{self, Block, BlockKind, Kind, Scratch};
use store::blocks::{Reader, Rows};
use surgery::export;
use surgery::fidelity::{Fidelity, Lens};
use surgery::plan::{self, Piece, Place, Plan};
use surgery::table;

/// Most bytes to count for calibration, about sixty thousand tokens.
pub const SAMPLE: usize = 256 * 1024;
/// Most bytes of rows to read for it, or for a title: most of a transcript is not text.
pub const READ: usize = 16 * 1024 * 1024;
/// Tokens of the text around an index table.
const AROUND_A_TABLE: u64 = 150;
/// Tokens of a table line at worst: two previews of eighty characters, and figures.
const A_LINE: usize = 250;
/// A table is small if it has less than one token per this many kept tokens.
const SMALL: u64 = 100;

/// The counts of some rounds.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    /// All tokens.
    full: u64,
    /// Tokens at the plan's fidelity.
    kept: u64,
    /// Measured tokens of the measured rounds.
    measured: u64,
    /// Counted tokens of the measured rounds.
    against: u64,
}

/// The cost of a plan.
///
/// # Errors
/// Blocks that cannot be read.
pub fn plan_cost(plan: &Plan, readers: &[Reader], now: Time) -> anyhow::Result<Cost> {
    let counter = Counter::default();
    let reduced = plan.fidelity != Fidelity::default();
    let heard = if plan.voices { export::voices(plan) } else { String::new() };
    // Estimate a small table roughly: loading the vocabulary and calibrating would take longer than
    // the rest of a short export.
    let tables = plan.indexed().count() * A_LINE + heard.len() / 2;
    let kept: u64 = plan.whole().map(|place| tokens_of(plan, place)).sum();
    let small = !reduced && (tables as u64 + AROUND_A_TABLE) * SMALL < kept;
    let count = |text: &str| if small { text.len() as u64 / 4 } else { counter.count(text) };
    let counted = if small { Counted::default() } else { sample(plan, &counter, readers)? };
    let calibration = Calibration::of(counted.measured, counted.against);
    let part =
        if reduced && counted.full > 0 { counted.kept as f64 / counted.full as f64 } else { 1.0 };
    let whole = |place: &Place| (tokens_of(plan, *place) as f64 * part).round() as u64;
    let heard = if plan.voices { calibration.apply(count(&heard) + AROUND_A_TABLE) } else { 0 };
    let after: u64 = plan
        .pieces
        .iter()
        .map(|piece| match piece {
            Piece::Round(place) => whole(place),
            Piece::Index(places) => calibration.apply(table(plan, &count, places)),
        })
        .sum();
    let sessions = plan.sessions.iter().enumerate();
    let before: Vec<Place> = sessions
        .flat_map(|(session, s)| {
            plan::in_context(s).into_iter().map(move |seq| Place { session, seq })
        })
        .collect();
    // Unchanged rounds at the start are still in the prompt cache.
    let kept = before
        .iter()
        .zip(&plan.pieces)
        .take_while(|(place, piece)| !reduced && matches!(piece, Piece::Round(p) if p == *place))
        .count();
    let lifetime = lifetime(plan, readers)?;
    let last = plan.sessions.iter().filter_map(|s| s.ended).max();
    let sum = |places: &[Place]| places.iter().map(|p| tokens_of(plan, *p)).sum();
    Ok(Cost {
        before: sum(&before),
        after: after + heard,
        behind: sum(&before[kept..]),
        lifetime,
        cold: lifetime.over(last, now),
    })
}

fn tokens_of(plan: &Plan, place: Place) -> u64 {
    plan.at(place).map_or(0, |(_, round)| round.tokens)
}

/// Estimates the tokens of an index table from a sample of its lines.
fn table(plan: &Plan, count: &dyn Fn(&str) -> u64, places: &[Place]) -> u64 {
    const LINES: usize = 256;
    let step = places.len().div_ceil(LINES).max(1);
    let lines: Vec<String> = places
        .iter()
        .step_by(step)
        .filter_map(|place| plan.at(*place).map(|(_, round)| table::line(round)))
        .collect();
    if lines.is_empty() {
        return 0;
    }
    count(&lines.join("\n")) * places.len() as u64 / lines.len() as u64 + AROUND_A_TABLE
}

/// Counts rounds from the last one backwards until the sample is large enough. Skipped if every
/// round stays unchanged.
fn sample(plan: &Plan, counter: &Counter, readers: &[Reader]) -> anyhow::Result<Counted> {
    let mut counted = Counted::default();
    let reduced = plan.fidelity != Fidelity::default();
    if !reduced && plan.indexed().next().is_none() {
        return Ok(counted);
    }
    let (mut words, mut read) = (0, 0);
    let mut rows = Rows::with_capacity(plan.largest());
    let mut places: Vec<Place> = plan.whole().collect();
    // If little is kept whole, the table rounds calibrate as well.
    let mut indexed: Vec<Place> = plan.indexed().collect();
    indexed.append(&mut places);
    for place in indexed.into_iter().rev() {
        if words >= SAMPLE || read >= READ {
            break;
        }
        let Some((session, round)) = plan.at(place) else { continue };
        let Some(dialect) = dialect::named(&session.dialect) else { continue };
        readers[place.session].round(round.seq, &mut rows)?;
        read += rows.bytes.len();
        let mut full = 0;
        words += blocks(dialect, &rows, |kind, json| full += counter.of_block(kind, json));
        counted.full += full;
        if reduced {
            let reference = table::reference(session, round.seq);
            let mut lens = Lens::new(dialect, rows.iter(), plan.fidelity, reference);
            let (mut left, mut scratch) = (Rows::default(), Scratch::default());
            for line in rows.iter() {
                let row = dialect.row(line, &mut scratch);
                lens.row(line, &row).iter().for_each(|line| left.push(line));
            }
            blocks(dialect, &left, |kind, json| counted.kept += counter.of_block(kind, json));
        }
        if round.measured {
            counted.measured += round.tokens;
            counted.against += full;
        }
    }
    Ok(counted)
}

/// Passes the blocks of messages to `each`; returns their bytes.
pub fn blocks(
    dialect: &dyn dialect::Dialect,
    rows: &Rows,
    mut each: impl FnMut(BlockKind, &[u8]),
) -> usize {
    let (mut scratch, mut found): (Scratch, Vec<Block>) = Default::default();
    let mut bytes = 0;
    for line in rows.iter() {
        let row = dialect.row(line, &mut scratch);
        if matches!(row.kind, Kind::Other | Kind::Broken | Kind::System) {
            continue;
        }
        dialect.blocks(line, &row, &mut scratch, &mut found);
        for block in &found {
            let json = block.span.slice(line);
            bytes += json.len();
            each(block.kind, json);
        }
    }
    bytes
}

/// The lifetime of the prompt cache, from the rows of the last round.
fn lifetime(plan: &Plan, readers: &[Reader]) -> anyhow::Result<Lifetime> {
    let mut hour = false;
    last_rows(plan, readers, |rows| {
        hour |= memmem::rfind(rows, br#""promptCacheRequested":"1h""#).is_some();
    })?;
    Ok(if hour { Lifetime::Hour } else { Lifetime::Minutes })
}

/// The latest title in the rows; with several sessions, of the first one that has a title. Searches
/// backwards, because clients repeat the title.
///
/// # Errors
/// Blocks that cannot be read.
pub fn title(plan: &Plan, readers: &[Reader]) -> anyhow::Result<Option<String>> {
    let mut rows = Rows::with_capacity(plan.largest());
    for (session, reader) in plan.sessions.iter().zip(readers) {
        let mut read = 0;
        for round in session.rounds.iter().rev() {
            reader.round(round.seq, &mut rows)?;
            if let Some(title) = named(&rows) {
                return Ok(Some(title));
            }
            read += rows.bytes.len();
            if read > READ {
                break;
            }
        }
        // Rows before the first round: the session may have started with a title.
        if reader.round(0, &mut rows).is_ok()
            && let Some(title) = named(&rows)
        {
            return Ok(Some(title));
        }
    }
    Ok(None)
}

/// The last title in these rows.
fn named(rows: &Rows) -> Option<String> {
    const KINDS: [(&[u8], &str); 2] =
        [(br#""type":"custom-title""#, "customTitle"), (br#""type":"session_info""#, "name")];
    let last = |kind: &[u8]| memmem::rfind(&rows.bytes, kind);
    KINDS.into_iter().find_map(|(kind, name)| {
        last(kind)?;
        let mut lines = rows.bytes.split(|byte| *byte == b'\n').rev();
        lines.find_map(|line| {
            memmem::find(line, kind)?;
            let row: serde_json::Value = serde_json::from_slice(line).ok()?;
            let text = row.get(name)?.as_str()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        })
    })
}

/// Passes the rows of each session's last round to `each`.
fn last_rows(plan: &Plan, readers: &[Reader], mut each: impl FnMut(&[u8])) -> anyhow::Result<()> {
    let mut rows = Rows::with_capacity(plan.largest());
    for (session, reader) in plan.sessions.iter().zip(readers) {
        let Some(last) = session.rounds.last() else { continue };
        reader.round(last.seq, &mut rows)?;
        each(&rows.bytes);
    }
    Ok(())
}
