//! What two sessions both have: copies of one round, known by their origin, and index tables whose
//! rounds are all there anyway.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Place;
use sessions::origin::{Named, Origin};
use sessions::round::{Round, Session};

/// The places of `context` (a list for each session) that a merge leaves out, in order.
pub(super) fn redundant(sessions: &[Session], context: &[Vec<u32>]) -> Vec<Place> {
    let mut gone = BTreeSet::new();
    let mut rounds: HashMap<Origin, [Vec<(Place, &Round)>; 2]> = HashMap::new();
    let mut tables = Vec::new();
    for (number, session) in sessions.iter().enumerate().take(2) {
        for round in context[number].iter().filter_map(|seq| session.round(*seq)) {
            let place = Place { session: number, seq: round.seq };
            match &round.table {
                // It says who speaks in an earlier merge, and would be out of date.
                Some(named) if named.is_empty() => {
                    gone.insert(place);
                }
                Some(named) => tables.push((place, round.bytes, named.as_slice())),
                None => {
                    let both = rounds.entry(session.origin(round)).or_default();
                    both[number].push((place, round));
                }
            }
        }
    }
    for [first, second] in rounds.values() {
        // If both are the same, that of the first session stays.
        for (copies, others) in [(second, first), (first, second)] {
            for (at, (place, round)) in copies.iter().enumerate() {
                // What a compaction kept are further rounds with its origin.
                let other = if others.len() == 1 { others.first() } else { others.get(at) };
                let other = other.filter(|(other, _)| !gone.contains(other));
                if is_copy(round) && other.is_some_and(|(_, other)| holds(other, round)) {
                    gone.insert(*place);
                }
            }
        }
    }
    // A copied summary of a round does not have the work in it.
    let full = |(_, round): &(Place, &Round)| round.assistant || !round.less;
    let there = rounds.into_iter().filter(|(_, places)| places.iter().flatten().any(full));
    let there: HashSet<Origin> = there.map(|(origin, _)| origin).collect();
    gone.extend(spare(tables, &there));
    gone.into_iter().collect()
}

/// Whether a round is a copy, and nothing was added since.
fn is_copy(round: &Round) -> bool {
    round.origin.is_some() && !round.more
}

/// Whether a round has all of a copy with the same origin: it is the origin, or at least as much of
/// it was copied.
fn holds(round: &Round, copy: &Round) -> bool {
    match (round.less, copy.less) {
        _ if round.origin.is_none() => true,
        (true, false) => false,
        (false, true) => true,
        _ => round.bytes >= copy.bytes,
    }
}

/// The tables whose rounds are all `there`, or in another table that stays.
fn spare(tables: Vec<(Place, u64, &[Named])>, there: &HashSet<Origin>) -> Vec<Place> {
    let mut left: Vec<(Place, HashSet<Origin>, (usize, u64))> = tables
        .into_iter()
        .map(|(place, bytes, named)| {
            let all: HashSet<Origin> = named.iter().flat_map(Named::origins).collect();
            let size = (all.len(), bytes);
            (place, all.into_iter().filter(|of| !there.contains(of)).collect(), size)
        })
        .collect();
    // Tables that miss the fewest rounds go first, then those that name the fewest: of two, the one
    // that says more stays. The order of the sessions may be that of their random ids.
    left.sort_by_key(|(place, missing, size)| (missing.len(), *size, *place));
    let mut spare = Vec::new();
    let mut at = 0;
    while at < left.len() {
        let others = || left.iter().enumerate().filter(|(other, _)| *other != at);
        let told = |of: &Origin| others().any(|(_, (_, missing, _))| missing.contains(of));
        if left[at].1.iter().all(told) {
            spare.push(left.remove(at).0);
        } else {
            at += 1;
        }
    }
    spare
}
