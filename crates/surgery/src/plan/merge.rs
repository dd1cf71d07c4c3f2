//! Merges two sessions by time.

use super::copies::redundant;
use super::operations::all;
use super::{Left, Performed, Piece, Place, Plan, Refused};
use base::clock::Time;
use sessions::operation::Fidelity;
use sessions::round::Session;

/// Merges the rounds of two sessions by time; at the same time, the session that began earlier
/// comes first. A round that both have is taken once.
///
/// # Errors
/// [`Refused::Sessions`] if both are the same, or one is empty.
pub fn merge(a: Session, b: Session, fidelity: Fidelity) -> Result<Plan, Refused> {
    let refuse = |what: String| Err(Refused::Sessions(what));
    if a.id == b.id {
        return refuse(format!("{} can't be merged with itself: name another session", a.id));
    }
    if let Some(empty) = [&a, &b].into_iter().find(|s| s.rounds.is_empty()) {
        return refuse(format!("{} has no rounds: there is nothing to merge", empty.id));
    }
    let earlier =
        |s: &Session| (s.started.or(s.rounds.first().and_then(|r| r.started)), s.id.clone());
    let sessions = if earlier(&b) < earlier(&a) { vec![b, a] } else { vec![a, b] };

    let context: Vec<Vec<u32>> = sessions.iter().map(Session::in_context).collect();
    let mut left_behind = Left::default();
    for (number, session) in sessions.iter().enumerate() {
        let left = Left::of(session, number, &all(session), &context[number]);
        left_behind.rewound.extend(left.rewound);
        left_behind.compacted.extend(left.compacted);
        left_behind.cut.extend(left.cut);
    }
    left_behind.doubled = redundant(&sessions, &context);
    let mut lines = [Vec::new(), Vec::new()];
    for (number, line) in lines.iter_mut().enumerate() {
        let dated = dated(&sessions[number], number, &context[number]);
        line.extend(dated.filter(|(_, place)| left_behind.doubled.binary_search(place).is_err()));
    }
    let [first, second] = lines;
    let pieces = zip(first, second).into_iter().map(Piece::Round).collect();
    Ok(Plan::new(Performed::Merge, sessions, pieces, left_behind, fidelity))
}

/// Rounds with their times. A round without a time, or before the previous one, gets the previous
/// one's, so that a session keeps its own order.
fn dated<'a>(
    session: &'a Session,
    number: usize,
    seqs: &'a [u32],
) -> impl Iterator<Item = (Option<Time>, Place)> + 'a {
    let mut latest = None;
    seqs.iter().map(move |seq| {
        latest = session.round(*seq).and_then(|r| r.started).max(latest);
        (latest, Place { session: number, seq: *seq })
    })
}

fn zip(first: Vec<(Option<Time>, Place)>, second: Vec<(Option<Time>, Place)>) -> Vec<Place> {
    let mut places = Vec::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
    loop {
        let next = match (first.peek(), second.peek()) {
            (Some(a), Some(b)) if b.0 < a.0 => second.next(),
            (Some(_), _) => first.next(),
            (None, _) => second.next(),
        };
        let Some((_, place)) = next else { return places };
        places.push(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sessions::origin::{Named, Origin};
    use sessions::round::Round;
    use testing::at;
    use testing::rounds::session;

    fn two() -> (Session, Session) {
        let line = [(0, false), (1, false), (2, false)];
        let (mut a, mut b) = (session(&line), session(&line));
        a.id = "aaaa".into();
        b.id = "bbbb".into();
        for (n, round) in b.rounds.iter_mut().enumerate() {
            round.started = Some(at(&format!("2026-03-19T10:{n:02}:40Z")));
            round.ended = Some(at(&format!("2026-03-19T10:{n:02}:50Z")));
            round.first_id = Some(format!("b-{n}"));
        }
        a.rounds[0].engagement = Some("x".into());
        b.rounds[0].engagement = Some("w".into());
        (a, b)
    }

    fn shape(plan: &Plan) -> String {
        plan.whole()
            .map(|p| format!("{}{}", ["a", "b"][p.session], p.seq))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn rounds_come_by_time_and_metadata_is_joined() {
        let (a, b) = two();
        let plan = merge(a.clone(), b.clone(), Fidelity::default()).unwrap();
        assert_eq!(shape(&plan), "a1 b1 a2 b2 a3 b3");
        assert_eq!(plan, merge(b, a, Fidelity::default()).unwrap());
        let expected = super::super::Lineage {
            parent_session: "aaaa".into(),
            sources: vec!["aaaa".into(), "bbbb".into()],
            started: Some(at("2026-03-19T10:00Z")),
            ended: Some(at("2026-03-19T10:02:50Z")),
            rounds: 6,
            engagements: vec!["w".into(), "x".into()],
        };
        assert_eq!(plan.lineage, expected);
    }

    #[test]
    fn a_session_keeps_its_own_order() {
        let (mut a, mut b) = two();
        a.rounds[1].started = None;
        b.rounds[2].started = Some(at("2026-03-19T09:00Z"));
        let plan = merge(a, b, Fidelity::default()).unwrap();
        assert_eq!(shape(&plan), "a1 a2 b1 b2 b3 a3");
    }

    fn copy_of(session: &str, round: &Round) -> Round {
        let origin = Origin { session: session.into(), seq: round.seq };
        Round { origin: Some(origin), first_id: None, ..round.clone() }
    }

    #[test]
    fn a_copy_is_left_out_unless_it_went_on() {
        let (a, mut b) = two();
        b.rounds[0] = Round { bytes: 9_000, ..copy_of("aaaa", &a.rounds[0]) };
        b.rounds[1] = Round { more: true, ..copy_of("aaaa", &a.rounds[1]) };
        let plan = merge(a.clone(), b.clone(), Fidelity::default()).unwrap();
        assert_eq!(shape(&plan), "a1 a2 b2 a3 b3");
        assert_eq!(plan.left.doubled, [Place { session: 1, seq: 1 }]);
        // The same words at the same time are no copy.
        b.rounds[0].origin = None;
        assert_eq!(shape(&merge(a, b, Fidelity::default()).unwrap()), "a1 b1 a2 b2 a3 b3");
    }

    #[test]
    fn of_two_copies_the_fuller_one_stays() {
        let (mut a, mut b) = two();
        let whole = copy_of("gone", &a.rounds[0]);
        (a.rounds[0], b.rounds[0]) = (whole.clone(), whole.clone());
        let merged = |a: &Session, b: &Session| {
            shape(&merge(a.clone(), b.clone(), Fidelity::default()).unwrap())
        };
        assert_eq!(merged(&a, &b), "a1 a2 b2 a3 b3");
        b.rounds[0].bytes += 1;
        assert_eq!(merged(&a, &b), "b1 a2 b2 a3 b3");
        b.rounds[0].less = true;
        assert_eq!(merged(&a, &b), "a1 a2 b2 a3 b3");
        a.rounds[0].bytes = 1;
        assert_eq!(merged(&a, &b), "a1 a2 b2 a3 b3");
    }

    #[test]
    fn a_table_stays_for_rounds_that_are_nowhere_else() {
        let (mut a, mut b) = two();
        let table =
            |rounds: &str| Some(vec![Named { session: "aaaa".into(), rounds: rounds.into() }]);
        a.rounds.truncate(2);
        b.rounds[0].table = table("1-2");
        assert_eq!(
            shape(&merge(a.clone(), b.clone(), Fidelity::default()).unwrap()),
            "a1 a2 b2 b3"
        );
        b.rounds[0].table = table("1-3");
        b.rounds[1].table = table("3");
        assert_eq!(
            shape(&merge(a.clone(), b.clone(), Fidelity::default()).unwrap()),
            "a1 b1 a2 b3"
        );
        b.rounds[1].table = table("2-4");
        assert_eq!(
            shape(&merge(a.clone(), b.clone(), Fidelity::default()).unwrap()),
            "a1 a2 b2 b3"
        );
        // Who spoke in an earlier merge.
        b.rounds[1].table = Some(Vec::new());
        assert_eq!(shape(&merge(a, b, Fidelity::default()).unwrap()), "a1 b1 a2 b3");
    }

    #[test]
    fn sessions_that_do_not_go_together_are_refused() {
        let (a, b) = two();
        let refused = |a: &Session, b: &Session| {
            merge(a.clone(), b.clone(), Fidelity::default()).unwrap_err().to_string()
        };
        assert!(refused(&a, &a).contains("merged with itself"));
        let empty = Session { rounds: vec![], ..b };
        assert!(refused(&a, &empty).starts_with("bbbb has no rounds"));
    }
}
