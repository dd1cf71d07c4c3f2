//! Finds redundant index tables in two sessions: everything they stand for is there anyway.

use std::collections::{BTreeSet, HashSet};

use super::shared::{Key, RowsOf, keys, table};
use super::shared::{of, unread};
use super::{Place, Refused};
use sessions::round::{Round, Session};

/// A table, and the keys of its rounds.
struct Told {
    place: Place,
    rounds: HashSet<Key>,
}

/// The tables whose rounds are all in one of the contexts, or in another table that stays. For
/// rounds in `gone`, the other session has the same.
pub(super) fn spare(
    sessions: &[Session],
    context: &[Vec<u32>],
    gone: &[Place],
    rows: &mut RowsOf,
) -> Result<Vec<Place>, Refused> {
    let mut told = Vec::new();
    for (number, session) in sessions.iter().enumerate().filter(|(_, s)| s.parent.is_some()) {
        for (seq, round) in of(session, &context[number]).filter(|(_, round)| !round.assistant) {
            let place = Place { session: number, seq };
            let table = table((session, round), rows).map_err(|why| unread(session, seq, &why))?;
            if let Some(table) = table.filter(|_| !gone.contains(&place)) {
                let key = |first: Option<String>| Some((table.session.clone(), first?));
                // A round without a known row cannot be found elsewhere, so its table stays.
                let rounds: Option<HashSet<Key>> = table.first.into_iter().map(key).collect();
                told.extend(rounds.map(|rounds| Told { place, rounds }));
            }
        }
    }
    if told.is_empty() {
        return Ok(Vec::new());
    }
    let tables: HashSet<Place> = told.iter().map(|told| told.place).collect();
    let mut whole = HashSet::new();
    for (number, session) in sessions.iter().enumerate() {
        let rounds = of(session, &context[number]);
        let rounds =
            rounds.filter(|(seq, _)| !tables.contains(&Place { session: number, seq: *seq }));
        for (seq, round) in rounds {
            whole.extend(known(session, round, rows).map_err(|why| unread(session, seq, &why))?);
        }
    }
    // Tables that stand for the most such rounds go first: of two tables, the one that repeats
    // fewer of them stays.
    let stands = |told: &Told| told.rounds.iter().filter(|key| whole.contains(*key)).count();
    told.sort_by_key(|told| std::cmp::Reverse(stands(told)));
    let mut left: BTreeSet<usize> = (0..told.len()).collect();
    let mut spare = Vec::new();
    for (at, table) in told.iter().enumerate() {
        let others: Vec<&Told> =
            left.iter().filter(|other| **other != at).map(|other| &told[*other]).collect();
        let there = |round: &Key| {
            whole.contains(round) || others.iter().any(|other| other.rounds.contains(round))
        };
        if !table.rounds.is_empty() && table.rounds.iter().all(there) {
            left.remove(&at);
            spare.push(table.place);
        }
    }
    Ok(spare)
}

/// The keys of a round. Its rows are read only if its session may be a copy.
fn known(session: &Session, round: &Round, rows: &mut RowsOf) -> std::io::Result<Vec<Key>> {
    let own = round.first_id.clone().map(|id| (session.id.clone(), id));
    let mut all: Vec<Key> = own.into_iter().collect();
    if session.parent.is_some() {
        all.extend(keys((session, round), rows)?);
    }
    Ok(all)
}
