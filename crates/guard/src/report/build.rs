//! Builds one session's part of a report.

use super::{Added, Line, Part, Seal, Source, Totals, What, Words, stances};
use base::clock::Time;
use sessions::gauge::Reading;

/// Sorts a session's data by time and sums up.
pub(super) fn part(source: Source) -> Part {
    let Source { id, job, parent, started, ended, ramp, mut points, mut events, .. } = source;
    points.sort_by_key(|p| p.at);
    events.sort_by_key(|e| e.at);
    let marks = points.iter().map(|p| p.at).chain(events.iter().map(|e| e.at)).chain(started);
    let (from, last) = marks.fold((None, None), |(from, to): (Option<Time>, Option<Time>), at| {
        (Some(from.map_or(at, |f| f.min(at))), to.max(Some(at)))
    });
    let to = last.max(ended);
    let mut seals = source.seals;
    seals.sort_by_key(|s| (s.at, s.version));
    let words = words(&events, &seals);
    let stances = stances::bands(&ramp, &points, &events, last);
    let added = Added::of(&events, source.bytes_per_token);
    let totals = Totals::of(&events, &points, seals.len(), added);
    events.retain(|e| !matches!(e.what, What::Pass(_)));
    Part {
        session: id,
        job,
        parent,
        from,
        to,
        tiers: ramp.tiers().to_vec(),
        fill: points,
        words,
        stances,
        events,
        seals,
        missing: source.missing,
        totals,
    }
}

/// The file's words where they changed: as calls measured them, and before and after each seal.
fn words(events: &[Line], seals: &[Seal]) -> Vec<Words> {
    let point = |at, words: u64, limit: u64| Words {
        at,
        words,
        limit,
        percent: words as f64 * 100.0 / limit.max(1) as f64,
    };
    let read = events.iter().filter_map(|e| e.file.map(|f: Reading| point(e.at, f.used, f.limit)));
    let mut all: Vec<Words> = read.collect();
    if let Some(limit) = all.last().map(|w| w.limit) {
        for seal in seals {
            all.extend(seal.before.map(|before| point(seal.at, before, limit)));
            all.push(point(seal.at, seal.after, limit));
        }
    }
    // A stable sort keeps a seal's two figures in order.
    all.sort_by_key(|w| w.at);
    let mut kept: Vec<Words> = Vec::new();
    for (index, words) in all.iter().enumerate() {
        let same = kept.last().is_some_and(|k| k.words == words.words);
        if !same || index + 1 == all.len() {
            kept.push(words.clone());
        }
    }
    kept
}
