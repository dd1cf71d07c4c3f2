//! The rounds that two sessions both have, as forks of one session do, and a merged one with
//! what it was made from.

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::RangeInclusive;

use super::shared::{RowsOf, Spare, ids, origin, spare, table};
use super::{Place, Refused};
use crate::clock::Time;
use crate::transcript::round::{Round, Session};

/// The spare one of each two rounds that are the same: one was copied from the other, or both
/// from a third. Copies keep the time to the millisecond and the words, often the id too; in a
/// merged session a round may have got a later time, and tells what it was copied from. Where
/// they part behind that, none is spare. So is an index table whose rounds the other session
/// has in its context, whole.
pub(super) fn doubled(
    sessions: &[Session],
    context: &[Vec<u32>],
    rows: &mut RowsOf,
) -> Result<Vec<Place>, Refused> {
    let known = [0, 1].map(|number| Known::of(&sessions[number], &context[number]));
    let like: Vec<_> = of(&sessions[1], &context[1])
        .filter_map(|(seq, round)| Some((known[0].like(round)?, seq)))
        .collect();
    let (mut found, mut tables) = (spares(sessions, &like, rows)?, Vec::new());
    // What no session was before is no copy, and its rows need no look.
    for number in [0, 1].into_iter().filter(|number| sessions[*number].parent.is_some()) {
        let (session, other) = (&sessions[number], 1 - number);
        let known = &known[other];
        let kept = kept(&sessions[other], &context[other], rows)?;
        let paired: HashSet<u32> = found.iter().map(|spare| spare.pair[number]).collect();
        let mut copies = Vec::new();
        for (seq, round) in of(session, &context[number]) {
            if paired.contains(&seq) || !known.may_say(round) {
                continue;
            }
            let from = origin((session, round), &sessions[other].id, rows)
                .map_err(|why| unread(session, seq, &why))?;
            let source =
                from.and_then(|id| known.ids.get(id.as_str()).or_else(|| kept.get(&id)).copied());
            copies.extend(source.map(|s| if number == 0 { (seq, s) } else { (s, seq) }));
        }
        found.extend(spares(sessions, &copies, rows)?);
        tables.extend(told_whole(sessions, number, context, rows)?);
    }
    let mut places: Vec<_> = found.into_iter().map(|found| found.place).chain(tables).collect();
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

/// The index tables of a session that stand for nothing but rounds of the other one's context.
fn told_whole(
    sessions: &[Session],
    number: usize,
    context: &[Vec<u32>],
    rows: &mut RowsOf,
) -> Result<Vec<Place>, Refused> {
    let (session, other) = (&sessions[number], 1 - number);
    let mut found = Vec::new();
    for (seq, round) in of(session, &context[number]).filter(|(_, round)| !round.assistant) {
        let told = table((session, round), rows).map_err(|why| unread(session, seq, &why))?;
        let whole = |seq: u32| context[other].binary_search(&seq).is_ok();
        let all = |(id, rounds): (String, Vec<RangeInclusive<u32>>)| {
            id == sessions[other].id && rounds.into_iter().all(|mut range| range.all(whole))
        };
        found.extend(told.is_some_and(all).then_some(Place { session: number, seq }));
    }
    Ok(found)
}

/// The rounds behind compactions by the ids of their rows: in a copy the summary is a message,
/// and where the compaction kept prompts it is of several rounds.
fn kept(
    session: &Session,
    seqs: &[u32],
    rows: &mut RowsOf,
) -> Result<HashMap<String, u32>, Refused> {
    let mut found = HashMap::new();
    for (seq, round) in of(session, seqs).filter(|(_, round)| round.boundary) {
        let ids = ids((session, round), rows).map_err(|why| unread(session, seq, &why))?;
        found.extend(ids.into_iter().map(|id| (id, seq)));
    }
    Ok(found)
}

fn unread(session: &Session, seq: u32, why: &io::Error) -> Refused {
    Refused::Unread(format!("could not read round {seq} of {}: {why}", session.id))
}

/// Of two rounds, one of each session, the spare one.
struct Found {
    pair: [u32; 2],
    place: Place,
}

/// The pairs of which one is spare.
fn spares(
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
            Spare::First => Place { session: 0, seq: first },
            Spare::Second => Place { session: 1, seq: second },
        });
        found.extend(place.map(|place| Found { pair: [first, second], place }));
    }
    Ok(found)
}

fn of<'a>(session: &'a Session, seqs: &'a [u32]) -> impl Iterator<Item = (u32, &'a Round)> {
    seqs.iter().filter_map(|seq| Some((*seq, session.round(*seq)?)))
}

/// By what a session's rounds can be found from their copies.
#[derive(Default)]
struct Known<'a> {
    ids: HashMap<&'a str, u32>,
    dated: HashMap<(Time, &'a str), u32>,
    said: HashSet<&'a str>,
    /// Whether a round has no words of its own: a picture alone, a summary. Its copy may say
    /// anything.
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

    /// The round that has the other's id, or its time and words.
    fn like(&self, round: &Round) -> Option<u32> {
        let same = round.first_id.as_deref().and_then(|id| self.ids.get(id));
        same.or_else(|| self.dated.get(&words(round)?)).copied()
    }

    /// Whether a round of this session may be what the other was copied from.
    fn may_say(&self, round: &Round) -> bool {
        self.silent || round.said.as_deref().is_some_and(|said| self.said.contains(said))
    }
}

/// What a copy has of its original. The whole of the words: index tables of different rounds
/// begin alike and at the same time.
fn words(round: &Round) -> Option<(Time, &str)> {
    Some((round.started?, round.said.as_deref()?))
}
