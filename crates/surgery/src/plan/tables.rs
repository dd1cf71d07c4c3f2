//! The index tables in two sessions that stand for nothing which isn't told in one of them anyway.

use std::collections::{BTreeSet, HashSet};

use super::shared::{Key, RowsOf, keys, table};
use super::shared::{of, unread};
use super::{Place, Refused};
use sessions::round::{Round, Session};

/// A table, and what its rounds begin with.
struct Told {
    place: Place,
    rounds: HashSet<Key>,
}

/// The tables whose rounds all stand in one of the sessions' contexts, or as lines in another
/// table of theirs that stays. Of what is `gone` already the other session has the same.
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
                // A round of which no row is known stands nowhere else for all that is known.
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
    // Those go first of which most stands there: what is left of two tables is the one that fewer
    // of its lines are doubled by.
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

/// What a round is known by, as far as its session may be a copy; else without a look at it.
fn known(session: &Session, round: &Round, rows: &mut RowsOf) -> std::io::Result<Vec<Key>> {
    let own = round.first_id.clone().map(|id| (session.id.clone(), id));
    let mut all: Vec<Key> = own.into_iter().collect();
    if session.parent.is_some() {
        all.extend(keys((session, round), rows)?);
    }
    Ok(all)
}
