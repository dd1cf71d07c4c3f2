//! The cost of a plan, by [`surgery::context`]. Tables, summaries and reduced rounds were never
//! measured, so a vocabulary counts them, calibrated by the measured rounds.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use memchr::memmem;

use crate::tokens::{Calibration, Counter};
use base::clock::Time;
use sessions::cost::{Cache, Cost};
use sessions::dialect::{self, Block, BlockKind, Dialect, Kind, Scratch};
use sessions::digest;
use sessions::operation::{Fidelity, Level};
use sessions::round::Session;
use store::blocks::{Reader, Rows};
use surgery::context::{Change, Measure};
use surgery::export::opening;
use surgery::fidelity::Lens;
use surgery::plan::{Place, Plan};
use surgery::table;

/// Most tokens to count for calibration.
const SAMPLE: u64 = 60_000;
/// Most bytes of rows to read for it, or for a title: most of a transcript is not text.
const READ: usize = 16 * 1024 * 1024;
/// A table is small if it has less than one token per this many kept tokens. An estimate of it
/// moves the context's figure by about a percent.
const SMALL: u64 = 4;

/// The counts of some rounds.
#[derive(Debug, Default)]
struct Counted {
    /// Tokens of rounds that are reduced, and what stays of them at the plan's fidelity.
    reduced: BTreeMap<Place, (u64, u64)>,
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
    let estimate = Change::estimate(plan);
    let without_thinking = plan.without_thinking();
    let fidelity = |place: Place| {
        let whole = plan.fidelity_of(place);
        let thinking = if without_thinking.contains(&place) { Level::Omit } else { whole.thinking };
        Fidelity { thinking, ..whole }
    };
    // Estimate small tables by their bytes: loading the vocabulary and calibrating would take
    // longer than the rest of a short export.
    let kept: u64 =
        plan.whole().filter_map(|place| plan.at(place)).map(|(_, round)| round.tokens).sum();
    let small = plan.whole().all(|place| fidelity(place).is_full())
        && plan.summaries().next().is_none()
        && estimate.added.saturating_mul(SMALL) < kept;
    let change = if small {
        estimate
    } else {
        let counted = sample(plan, &counter, readers, &fidelity)?;
        let calibration = Calibration::of(counted.measured, counted.against);
        let summaries = summaries(plan, &counter, readers)?;
        let part = |(full, kept): (u64, u64)| kept as f64 / full.max(1) as f64;
        // A round that was not sampled is reduced like the others.
        let all = counted.reduced.values().fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        let share = |place: Place| match counted.reduced.get(&place) {
            _ if fidelity(place).is_full() => 1.0,
            Some((full, _)) if *full == 0 => 1.0,
            Some(counts) => part(*counts),
            None if all.0 == 0 => 1.0,
            None => part(all),
        };
        Change::of(
            plan,
            &Measure {
                text: &|text| calibration.apply(counter.count(text)),
                summary: &|_, place| calibration.apply(summaries.get(&place).copied().unwrap_or(0)),
                share: &share,
            },
        )
    };
    let opening = opening(plan, &counter, readers)?;
    let cache = cache(plan, readers)?;
    let last = plan.sessions.iter().filter_map(|s| s.ended).max();
    let Change { base, before, behind, .. } = change;
    let after = change.after + opening;
    Ok(Cost { base, before, after, behind, cache, cold: cache.lifetime.over(last, now) })
}

/// Counts rounds until the sample is large enough: first the reduced rounds, then the full ones,
/// each from the last one backwards.
fn sample(
    plan: &Plan,
    counter: &Counter,
    readers: &[Reader],
    fidelity: &dyn Fn(Place) -> Fidelity,
) -> anyhow::Result<Counted> {
    let mut counted = Counted::default();
    let (mut taken, mut read) = (0, 0);
    let mut rows = Rows::with_capacity(plan.largest());
    let (full, reduced): (Vec<_>, Vec<_>) =
        plan.whole().partition(|place| fidelity(*place).is_full());
    let whole = reduced.into_iter().rev().chain(full.into_iter().rev()).map(|place| (place, true));
    // If little is kept whole, the rounds of the tables calibrate as well.
    let tables = plan.indexed().filter(|place| place.session < readers.len());
    let tables = tables.collect::<Vec<_>>().into_iter().rev().map(|place| (place, false));
    for (place, stays) in whole.chain(tables) {
        if taken >= SAMPLE || read >= READ {
            break;
        }
        let Some((session, round)) = plan.at(place) else { continue };
        let Some(dialect) = dialect::named(&session.dialect) else { continue };
        readers[place.session].round(round.seq, &mut rows)?;
        read += rows.bytes.len();
        let mut full = 0;
        blocks(dialect, rows.iter(), |kind, json| full += counter.of_block(kind, json));
        taken += full;
        if stays && !fidelity(place).is_full() {
            let kept = count_reduced(fidelity(place), place, session, dialect, &rows, counter);
            counted.reduced.insert(place, (full, kept));
        }
        if round.measured {
            counted.measured += round.tokens;
            counted.against += full;
        }
    }
    Ok(counted)
}

/// Counts what stays of a round at a fidelity.
fn count_reduced(
    fidelity: Fidelity,
    place: Place,
    session: &Session,
    dialect: &'static dyn Dialect,
    rows: &Rows,
    counter: &Counter,
) -> u64 {
    let reference = table::reference(session, place.seq);
    let mut lens = Lens::new(rows.iter(), fidelity, reference);
    let mut scratch = Scratch::default();
    let mut kept = 0;
    for line in rows.iter() {
        let row = dialect.row(line, &mut scratch);
        if let Some(line) = lens.row(line, &row) {
            let line: &[u8] = &line;
            blocks(dialect, [line], |kind, json| kept += counter.of_block(kind, json));
        }
    }
    kept
}

/// Counts what comes along of first rounds that do not stay.
fn opening(plan: &Plan, counter: &Counter, readers: &[Reader]) -> anyhow::Result<u64> {
    let (mut rows, mut scratch, mut tokens) = (Rows::default(), Scratch::default(), 0);
    for place in opening::places(plan) {
        let Some(dialect) = dialect::named(&plan.sessions[place.session].dialect) else { continue };
        readers[place.session].round(place.seq, &mut rows)?;
        opening::keep(&mut rows)?;
        for line in rows.iter() {
            let row = dialect.row(line, &mut scratch);
            let prompt = row.content.map(|at| at.slice(line));
            let json = prompt.or_else(|| dialect.attached(line).map(|(_, json)| json));
            tokens += counter.count(&String::from_utf8_lossy(json.unwrap_or_default()));
        }
    }
    Ok(tokens)
}

/// Counts the summaries of compactions that stay.
fn summaries(
    plan: &Plan,
    counter: &Counter,
    readers: &[Reader],
) -> anyhow::Result<BTreeMap<Place, u64>> {
    let (mut found, mut rows, mut scratch) = (BTreeMap::new(), Rows::default(), Scratch::default());
    for place in plan.summaries() {
        let session = &plan.sessions[place.session];
        let Some(dialect) = dialect::named(&session.dialect) else { continue };
        readers[place.session].round(place.seq, &mut rows)?;
        let mut tokens = 0;
        for line in rows.iter() {
            let row = dialect.row(line, &mut scratch);
            let content =
                row.content.filter(|_| matches!(row.kind, Kind::Boundary | Kind::Summary));
            let json = content.map(|at| at.slice(line)).unwrap_or_default();
            tokens += counter.count(&digest::text(json));
        }
        found.insert(place, tokens);
    }
    Ok(found)
}

/// Passes the blocks of messages to `each`; returns their bytes.
fn blocks<'r>(
    dialect: &dyn dialect::Dialect,
    rows: impl IntoIterator<Item = &'r [u8]>,
    mut each: impl FnMut(BlockKind, &[u8]),
) {
    let (mut scratch, mut found): (Scratch, Vec<Block>) = Default::default();
    for line in rows {
        let row = dialect.row(line, &mut scratch);
        if matches!(row.kind, Kind::Other | Kind::Broken | Kind::System) {
            continue;
        }
        dialect.blocks(line, &row, &mut scratch, &mut found);
        for block in &found {
            each(block.kind, block.span.slice(line));
        }
    }
}

/// The prompt cache; of several sessions, the one that lives longest and is cheapest to read.
fn cache(plan: &Plan, readers: &[Reader]) -> anyhow::Result<Cache> {
    let pairs = plan.sessions.iter().zip(readers);
    let caches = pairs.map(|(session, reader)| cache_of(session, reader));
    let caches = caches.collect::<anyhow::Result<Vec<_>>>()?.into_iter();
    Ok(caches.max_by_key(|cache| (cache.lifetime, Reverse(cache.read))).unwrap_or_default())
}

fn cache_of(session: &Session, reader: &Reader) -> anyhow::Result<Cache> {
    let Some(last) = session.rounds.last() else { return Ok(Cache::default()) };
    let mut rows = Rows::with_capacity(last.bytes as usize);
    reader.round(last.seq, &mut rows)?;
    let lines: Vec<&[u8]> = rows.iter().collect();
    Ok(Cache::of_rows(lines.into_iter().rev()))
}

/// Whether the prompt cache of a session has expired, so that a change costs nothing.
///
/// # Errors
/// Blocks that cannot be read.
pub fn is_cold(session: &Session, reader: &Reader, now: Time) -> anyhow::Result<bool> {
    Ok(cache_of(session, reader)?.lifetime.over(session.ended, now))
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
