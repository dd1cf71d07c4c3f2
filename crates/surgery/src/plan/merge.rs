//! Merges two sessions by time.

use super::branch::{in_context, left};
use super::doubled::doubled;
use super::operations::all;
use super::shared::RowsOf;
use super::{Left, Lineage, Operation, Piece, Place, Plan, Refused};
use crate::fidelity::Fidelity;
use base::clock::Time;
use sessions::round::Session;

/// Merges the rounds of two sessions by time; at the same time, the session that began earlier
/// comes first. A round that both have is taken once; `rows` reads the rounds that begin alike.
///
/// # Errors
/// [`Refused::Sessions`] if both are the same, have two dialects, or one is empty.
/// [`Refused::Unread`] if rows to compare cannot be read.
pub fn merge(
    a: Session,
    b: Session,
    fidelity: Fidelity,
    rows: &mut RowsOf,
) -> Result<Plan, Refused> {
    let refuse = |what: String| Err(Refused::Sessions(what));
    if a.id == b.id {
        return refuse(format!("{} can't be merged with itself: name another session", a.id));
    }
    if a.dialect != b.dialect {
        return refuse(format!(
            "{} is a session of {}, {} of {}: only sessions of one kind can be merged",
            a.id, a.dialect, b.id, b.dialect
        ));
    }
    if let Some(empty) = [&a, &b].into_iter().find(|s| s.rounds.is_empty()) {
        return refuse(format!("{} has no rounds: there is nothing to merge", empty.id));
    }
    let earlier =
        |s: &Session| (s.started.or(s.rounds.first().and_then(|r| r.started)), s.id.clone());
    let sessions = if earlier(&b) < earlier(&a) { vec![b, a] } else { vec![a, b] };

    let context: Vec<Vec<u32>> = sessions.iter().map(in_context).collect();
    let mut left_behind = Left::default();
    for (number, session) in sessions.iter().enumerate() {
        let left = left(session, number, &all(session), &context[number]);
        left_behind.rewound.extend(left.rewound);
        left_behind.compacted.extend(left.compacted);
    }
    left_behind.doubled = doubled(&sessions, &context, rows)?;
    let mut lines = [Vec::new(), Vec::new()];
    for (number, line) in lines.iter_mut().enumerate() {
        let dated = dated(&sessions[number], number, &context[number]);
        line.extend(dated.filter(|(_, place)| left_behind.doubled.binary_search(place).is_err()));
    }
    let [first, second] = lines;
    let pieces = zip(first, second).into_iter().map(Piece::Round).collect();
    let lineage = Lineage::of(&sessions);
    let operation = Operation::Merge;
    Ok(Plan { operation, sessions, pieces, left: left_behind, fidelity, voices: false, lineage })
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
    use std::io;

    use super::super::shared;
    use super::*;
    use crate::plan::testing::session;
    use base::when::at;
    use sessions::round::Round;
    use sessions::rows::Rows;

    /// A merge of rounds that have as many rows as they say.
    fn merge(a: Session, b: Session, fidelity: Fidelity) -> Result<Plan, Refused> {
        let mut rows = |_: &Session, round: &Round, rows: &mut Rows| {
            let lines: Vec<String> = (0..round.rows).map(|n| format!("{n} row {n}")).collect();
            *rows = shared::tests::rows(&lines.join("\n"));
            Ok(())
        };
        super::merge(a, b, fidelity, &mut rows)
    }

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
        let expected = Lineage {
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

    #[test]
    fn what_both_have_is_taken_once_and_the_longer_one() {
        let (a, mut b) = two();
        b.rounds[0] = a.rounds[0].clone();
        b.rounds[1] = Round { first_id: Some("fresh".into()), rows: 9, ..a.rounds[1].clone() };
        let plan = merge(a.clone(), b.clone(), Fidelity::default()).unwrap();
        assert_eq!(shape(&plan), "a1 b2 a3 b3");
        let doubled = vec![Place { session: 0, seq: 2 }, Place { session: 1, seq: 1 }];
        assert_eq!(plan.left.doubled, doubled);
        // The same time, but other words: both stay.
        b.rounds[1].said = Some("something else".into());
        assert_eq!(shape(&merge(a, b, Fidelity::default()).unwrap()), "a1 a2 b2 a3 b3");
    }

    #[test]
    fn what_parts_behind_the_same_beginning_is_all_kept() {
        let (a, mut b) = two();
        b.rounds[0] = a.rounds[0].clone();
        let mut rows = |session: &Session, _: &Round, rows: &mut Rows| {
            *rows = shared::tests::rows(&format!("1 ask\n2 answer of {}", session.id));
            Ok(())
        };
        let plan = super::merge(a.clone(), b.clone(), Fidelity::default(), &mut rows).unwrap();
        assert_eq!((shape(&plan).as_str(), plan.left.doubled.len()), ("a1 b1 a2 b2 a3 b3", 0));
        let mut unread = |_: &Session, _: &Round, _: &mut Rows| Err(io::ErrorKind::NotFound.into());
        let why = super::merge(a, b, Fidelity::default(), &mut unread).unwrap_err().to_string();
        assert!(why.starts_with("could not compare round 1 of aaaa and 1 of bbbb: "), "{why}");
    }

    /// Merges a session whose compaction kept the prompt `2` and its answer with a copy of its
    /// context. There the summary is a message, and the prompt begins a round.
    fn compacted(summary: &str, more: &str) -> Plan {
        let mut a = session(&[(0, false), (1, true)]);
        let mut copy = session(&[(0, false), (1, false)]);
        (a.id, copy.id) = ("aaaa".into(), "bbbb".into());
        copy.parent = Some("aaaa".into());
        a.rounds[1].said = None;
        for round in &mut copy.rounds {
            round.started = Some(at("2026-03-19T11:00Z"));
            round.first_id = None;
        }
        let boundary = r#"{"type":"system","subtype":"compact_boundary","uuid":"4","compactMetadata":{"preservedMessages":{"uuids":["2","3"]}}}"#;
        let mut read = |session: &Session, round: &Round, rows: &mut Rows| {
            *rows = shared::tests::rows(match (session.id.as_str(), round.seq) {
                ("aaaa", 1) => "1 first\n2 ask\n3 answer",
                ("aaaa", _) => "5 summary\n6 more",
                (_, 1) => summary,
                _ => more,
            });
            if round.boundary {
                let own = std::mem::take(rows);
                rows.push(format!("{boundary}\n").as_bytes());
                own.iter().for_each(|row| rows.push(row));
            }
            Ok(())
        };
        super::merge(a, copy, Fidelity::default(), &mut read).unwrap()
    }

    #[test]
    fn what_a_compaction_kept_is_known_again_and_no_more() {
        let (summary, all) = ("7<aaaa/5 summary", "8<aaaa/2 ask\n9<aaaa/3 answer\n10<aaaa/6 more");
        assert_eq!(shape(&compacted(summary, all)), "a2");
        // In no row of the round, and not kept by the compaction.
        let more = |first: &str, second: &str| {
            compacted(&format!("{summary}{first}"), &format!("{all}{second}"))
        };
        assert_eq!(shape(&more("\n11<aaaa/1 first", "")), "a2 b1");
        assert_eq!(shape(&more("", "\n11<aaaa/1 first")), "a2 b2");
        assert_eq!(shape(&more("", "\n11 on")), "a2 b2");
    }

    #[test]
    fn a_picture_alone_is_known_again() {
        let (mut a, mut b) = two();
        b.parent = Some("aaaa".into());
        (a.rounds[0].said, b.rounds[0].said) = (None, None);
        let mut read = |session: &Session, round: &Round, rows: &mut Rows| {
            let id = format!("{}-{}", session.id, round.seq);
            let row = match (session.id.as_str(), round.seq) {
                ("aaaa", 1) => "id-0 picture".to_owned(),
                ("bbbb", 1) => "b-0<aaaa/id-0 picture".to_owned(),
                _ => format!("{id} said {id}"),
            };
            *rows = shared::tests::rows(&row);
            Ok(())
        };
        let plan = super::merge(a, b, Fidelity::default(), &mut read).unwrap();
        assert_eq!(shape(&plan), "a1 a2 b2 a3 b3");
    }

    #[test]
    fn tables_that_begin_alike_both_stay() {
        let (mut a, mut b) = two();
        for session in [&mut a, &mut b] {
            session.rounds[0].assistant = false;
            session.rounds[0].started = Some(at("2026-03-19T09:00Z"));
            session.rounds[0].user_preview = "[brain-guard] This session was made".into();
            session.rounds[0].said = Some(format!("of {}", session.id));
        }
        let plan = merge(a, b, Fidelity::default()).unwrap();
        assert_eq!(shape(&plan), "a1 b1 a2 b2 a3 b3");
    }

    #[test]
    fn sessions_that_do_not_go_together_are_refused() {
        let (a, b) = two();
        let refused = |a: &Session, b: &Session| {
            merge(a.clone(), b.clone(), Fidelity::default()).unwrap_err().to_string()
        };
        assert!(refused(&a, &a).contains("merged with itself"));
        let pi = Session { dialect: "pi".into(), ..b.clone() };
        assert!(refused(&a, &pi).starts_with("aaaa is a session of claude, bbbb of pi"));
        let empty = Session { rounds: vec![], ..b };
        assert!(refused(&a, &empty).starts_with("bbbb has no rounds"));
    }
}
