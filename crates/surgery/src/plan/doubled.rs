//! Rounds that two sessions both have: forks of one session, or a merged session and its sources.

use crate::plan::shared::of;
use crate::plan::shared::unread;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::shared::{Key, Redundant, RowsOf, keys, spare};
use super::{Place, Refused, tables};
use base::clock::Time;
use sessions::round::{Round, Session};

/// The redundant round of each equal pair: one was copied from the other, or both from a third.
/// Copies keep the time to the millisecond and the words, often the id; a merge may change the
/// time, but names the original. If they continue differently, both stay. Includes index tables
/// (`tables::redundant_tables`).
pub(super) fn doubled(
    sessions: &[Session],
    context: &[Vec<u32>],
    rows: &mut RowsOf,
) -> Result<Vec<Place>, Refused> {
    let known = [0, 1].map(|number| Known::of(&sessions[number], &context[number]));
    let like: Vec<_> = of(&sessions[1], &context[1])
        .filter_map(|(seq, round)| Some((known[0].like(round)?, seq)))
        .collect();
    let mut found = redundant_pairs(sessions, &like, rows)?;
    // Sessions without a parent have no copies, and their rows need not be read.
    if sessions.iter().any(|session| session.parent.is_some()) {
        let firsts = [0, 1].map(|number| {
            let paired: HashSet<u32> = found.iter().map(|spare| spare.pair[number]).collect();
            // A round without words of its own may have some in a copy.
            let may = |round: &Round| {
                let open = round.boundary || !paired.contains(&round.seq);
                open && (round.said.is_none() || known[1 - number].may_say(round))
            };
            firsts(&sessions[number], &context[number], may, rows)
        });
        let [first, second] = firsts;
        let copies = same([&first?, &second?], &known, sessions);
        found.extend(redundant_pairs(sessions, &copies, rows)?);
    }
    let mut places: Vec<_> = found.into_iter().map(|found| found.place).collect();
    places.extend(tables::spare(sessions, context, &places, rows)?);
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

/// The keys that identify rounds in other sessions.
fn firsts(
    session: &Session,
    seqs: &[u32],
    may: impl Fn(&Round) -> bool,
    rows: &mut RowsOf,
) -> Result<Vec<(u32, Vec<Key>)>, Refused> {
    let rounds = of(session, seqs).filter(|(_, round)| may(round));
    let keys = rounds.map(|(seq, round)| {
        let keys = keys((session, round), rows).map_err(|why| unread(session, seq, &why))?;
        Ok((seq, keys))
    });
    keys.collect()
}

/// The pairs of rounds, one of each session, that share a key.
fn same(
    firsts: [&[(u32, Vec<Key>)]; 2],
    known: &[Known; 2],
    sessions: &[Session],
) -> Vec<(u32, u32)> {
    let mut pairs = BTreeSet::new();
    for number in [0, 1] {
        let (own, other) = (firsts[number], 1 - number);
        let mut places: HashMap<&Key, u32> = HashMap::new();
        for (seq, keys) in firsts[other] {
            for key in keys {
                places.entry(key).or_insert(*seq);
            }
        }
        let place = |key: &Key| {
            let first =
                || known[other].ids.get(key.1.as_str()).filter(|_| key.0 == sessions[other].id);
            places.get(key).or_else(first).copied()
        };
        for (seq, keys) in own {
            let Some(like) = keys.iter().find_map(place) else { continue };
            pairs.insert(if number == 0 { (*seq, like) } else { (like, *seq) });
        }
    }
    pairs.into_iter().collect()
}

/// A pair of rounds, one of each session, and its redundant one.
struct Found {
    pair: [u32; 2],
    place: Place,
}

/// The pairs that have a redundant round.
fn redundant_pairs(
    sessions: &[Session],
    pairs: &[(u32, u32)],
    rows: &mut RowsOf,
) -> Result<Vec<Found>, Refused> {
    let (a, b) = (&sessions[0], &sessions[1]);
    let mut found = Vec::new();
    for &(first, second) in pairs {
        let (Some(one), Some(other)) = (a.round(first), b.round(second)) else { continue };
        let spare = spare((a, one), (b, other), rows).map_err(|why| {
            let (a, b) = (&a.id, &b.id);
            Refused::Unread(format!(
                "could not compare round {first} of {a} and {second} of {b}: {why}"
            ))
        })?;
        let place = spare.map(|spare| match spare {
            Redundant::First => Place { session: 0, seq: first },
            Redundant::Second => Place { session: 1, seq: second },
        });
        found.extend(place.map(|place| Found { pair: [first, second], place }));
    }
    Ok(found)
}

/// Lookups that find a session's rounds from their copies.
#[derive(Default)]
struct Known<'a> {
    ids: HashMap<&'a str, u32>,
    dated: HashMap<(Time, &'a str), u32>,
    said: HashSet<&'a str>,
    /// Whether some round has no words of its own: only a picture, or a summary. Its copy may have
    /// any words.
    silent: bool,
}

impl<'a> Known<'a> {
    fn of(session: &'a Session, seqs: &'a [u32]) -> Self {
        let mut known = Self::default();
        for (seq, round) in of(session, seqs) {
            known.ids.extend(round.first_id.as_deref().map(|id| (id, seq)));
            known.dated.extend(words(round).map(|words| (words, seq)));
            known.said.extend(round.said.as_deref());
            known.silent |= round.said.is_none();
        }
        known
    }

    /// The round with the same id, or the same time and words.
    fn like(&self, round: &Round) -> Option<u32> {
        let same = round.first_id.as_deref().and_then(|id| self.ids.get(id));
        same.or_else(|| self.dated.get(&words(round)?)).copied()
    }

    /// Whether `round` may have been copied from a round of this session.
    fn may_say(&self, round: &Round) -> bool {
        self.silent || round.said.as_deref().is_some_and(|said| self.said.contains(said))
    }
}

/// What a copy shares with its original. All words count, because index tables of different rounds
/// begin alike and at the same time.
fn words(round: &Round) -> Option<(Time, &str)> {
    Some((round.started?, round.said.as_deref()?))
}
