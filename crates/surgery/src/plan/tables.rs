//! The index tables of a plan: what stands for rounds that are not in the new session.

use std::collections::{BTreeMap, BTreeSet};

use super::{Piece, Place, Plan};
use sessions::origin::{Named, Origin};
use sessions::round::Session;

/// The pieces that replace rounds of a session: one table. A summary in the context stays, because
/// it tells what no line can; the rounds before and behind it have tables of their own.
pub(super) fn pieces(session: &Session, seqs: &[u32]) -> Vec<Piece> {
    let (mut pieces, mut run) = (Vec::new(), Vec::new());
    for seq in seqs {
        let place = Place { session: 0, seq: *seq };
        let summary = session.round(*seq).filter(|round| round.boundary && round.is_sent());
        if summary.is_some() {
            pieces.extend(table(std::mem::take(&mut run)));
            pieces.push(Piece::Summary(place));
        }
        // A round in which the agent went on has a line, too.
        if summary.is_none_or(|round| round.assistant) {
            run.push(place);
        }
    }
    pieces.extend(table(run));
    pieces
}

/// Rounds of the context, in its order, and before them those that are no longer in it but came
/// earlier.
pub(super) fn with_away(context: &[u32], away: &[u32]) -> Vec<u32> {
    let (mut all, mut away) = (Vec::new(), away.iter().copied().peekable());
    for seq in context {
        all.extend(std::iter::from_fn(|| away.next_if(|away| away < seq)));
        all.push(*seq);
    }
    all.extend(away);
    all
}

fn table(places: Vec<Place>) -> Vec<Piece> {
    if places.is_empty() { Vec::new() } else { vec![Piece::Index(places)] }
}

impl Plan {
    /// Replaces what its tables name by origins: copies by the rounds they were copied from, and
    /// tables of earlier operations by the rounds that those name. `find` loads a session by its id;
    /// what it doesn't find stays as it is.
    pub fn carry(&mut self, find: &mut dyn FnMut(&str) -> Option<Session>) {
        let mut known: BTreeMap<String, Option<usize>> =
            self.sessions.iter().enumerate().map(|(n, s)| (s.id.clone(), Some(n))).collect();
        for at in 0..self.pieces.len() {
            let Piece::Index(places) = self.pieces[at].clone() else { continue };
            let (mut carried, mut there) = (Vec::new(), BTreeSet::new());
            for place in places {
                for place in self.origins_of(place, &mut known, find) {
                    if there.insert(place) {
                        carried.push(place);
                    }
                }
            }
            self.pieces[at] = Piece::Index(carried);
        }
        self.pieces.retain(|piece| !matches!(piece, Piece::Index(places) if places.is_empty()));
    }

    /// The places that a line of a table leads to.
    fn origins_of(
        &mut self,
        place: Place,
        known: &mut BTreeMap<String, Option<usize>>,
        find: &mut dyn FnMut(&str) -> Option<Session>,
    ) -> Vec<Place> {
        let Some((_, round)) = self.at(place) else { return Vec::new() };
        let origins: Vec<Origin> = match (&round.table, &round.origin) {
            (Some(named), _) => named.iter().flat_map(Named::origins).collect(),
            (None, Some(origin)) if !round.more => vec![origin.clone()],
            (None, _) => return self.kept_and(place),
        };
        let found: Option<Vec<Place>> =
            origins.into_iter().map(|origin| self.first(origin, known, find)).collect();
        // If one of its rounds is unknown, a table keeps its own line, which leads to its text.
        let found = found.unwrap_or_else(|| vec![place]);
        found.into_iter().flat_map(|place| self.kept_and(place)).collect()
    }

    /// A round. If it is a compaction that kept the end of earlier rounds, those come first.
    fn kept_and(&self, place: Place) -> Vec<Place> {
        let parts = self.at(place).map_or(&[][..], |(_, round)| &round.standing.parts);
        let mut kept: Vec<Place> = parts.iter().map(|p| Place { seq: p.seq, ..place }).collect();
        // What hooks said when the session started is in no round.
        kept.retain(|other| *other != place && self.at(*other).is_some());
        kept.dedup();
        kept.push(place);
        kept
    }

    /// The place of an origin, whose session is loaded if needed.
    fn first(
        &mut self,
        origin: Origin,
        known: &mut BTreeMap<String, Option<usize>>,
        find: &mut dyn FnMut(&str) -> Option<Session>,
    ) -> Option<Place> {
        let number = if let Some(number) = known.get(&origin.session) {
            *number
        } else {
            let number = find(&origin.session).map(|session| {
                self.origins.push(session);
                self.sessions.len() + self.origins.len() - 1
            });
            known.insert(origin.session, number);
            number
        };
        let place = Place { session: number?, seq: origin.seq };
        self.at(place).map(|_| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::compress_before;
    use base::when::When;
    use sessions::operation::Fidelity;
    use sessions::sent::Part;
    use testing::rounds::session;

    fn shape(plan: &Plan) -> Vec<String> {
        let of = |place: &Place| {
            plan.at(*place).map_or(String::new(), |(s, r)| format!("{}{}", &s.id[..1], r.seq))
        };
        let piece = |piece: &Piece| match piece {
            Piece::Index(places) => {
                format!("[{}]", places.iter().map(of).collect::<Vec<_>>().join(" "))
            }
            Piece::Round(place) => of(place),
            Piece::Summary(place) => format!("({})", of(place)),
        };
        plan.pieces.iter().map(piece).collect()
    }

    fn line(count: u32) -> Session {
        let follows: Vec<(u32, bool)> = (0..count).map(|n| (n, false)).collect();
        session(&follows)
    }

    /// A session made of `first`: its rounds 1-4 as a table, 5-6 copied, then two of its own.
    fn second(first: &Session) -> Session {
        let mut second = Session { id: "second".into(), ..line(5) };
        second.rounds[0].table =
            Some(vec![Named { session: first.id.clone(), rounds: "1-4".into() }]);
        for (at, seq) in [(1, 5), (2, 6)] {
            second.rounds[at].origin = Some(Origin { session: first.id.clone(), seq });
        }
        second
    }

    #[test]
    fn a_table_that_is_compressed_again_keeps_its_lines() {
        let first = line(6);
        let cut = |session: Session, at| {
            compress_before(session, When::Round(at), Fidelity::default()).unwrap()
        };
        let mut plan = cut(second(&first), 5);
        assert_eq!(shape(&plan), ["[s1 s2 s3 s4]", "s5"]);
        let mut loaded = 0;
        plan.carry(&mut |id| {
            loaded += 1;
            (id == first.id).then(|| first.clone())
        });
        assert_eq!(shape(&plan), ["[31 32 33 34 35 36 s4]", "s5"]);
        assert_eq!(loaded, 1);

        // A copy that went on is a round of its own; a message of surgery about speakers is none.
        let mut other = second(&first);
        other.rounds[2].more = true;
        other.rounds[3].table = Some(Vec::new());
        let mut plan = cut(other, 5);
        plan.carry(&mut |_| Some(first.clone()));
        assert_eq!(shape(&plan), ["[31 32 33 34 35 s3]", "s5"]);

        // The first session is gone from the store.
        let mut plan = cut(second(&first), 5);
        plan.carry(&mut |_| None);
        assert_eq!(shape(&plan), ["[s1 s2 s3 s4]", "s5"]);
    }

    #[test]
    fn a_line_of_a_compaction_brings_the_rounds_of_which_it_kept_the_end() {
        let mut session = line(6);
        let part = |seq| Part { seq, rows: 0..1 };
        // What hooks said at the start is in no round.
        session.rounds[0].standing.parts = vec![part(0), part(1)];
        session.rounds[3].standing.parts = vec![part(4), part(2)];
        assert_eq!(session.in_order(), 3);
        let mut plan = compress_before(session, When::Round(5), Fidelity::default()).unwrap();
        plan.pieces[0] = Piece::Index(vec![Place::first(1), Place::first(4)]);
        plan.carry(&mut |_| None);
        assert_eq!(shape(&plan), ["[31 32 34]", "35", "36"]);
    }

    #[test]
    fn a_compactions_summary_stays() {
        let cut = |at| {
            let rounds = [(0, false), (1, false), (2, true), (3, false), (4, false)];
            let mut session = session(&rounds);
            session.rounds[2].assistant = at == 4;
            let plan = compress_before(session, When::Round(at), Fidelity::default()).unwrap();
            shape(&plan)
        };
        assert_eq!(cut(5), ["[31 32]", "(33)", "[34]", "35"]);
        assert_eq!(cut(4), ["[31 32]", "(33)", "[33]", "34", "35"]);
        assert_eq!(cut(3), ["[31 32]", "33", "34", "35"]);
    }
}
