//! The operations on one session: compress and extract.

use std::collections::BTreeSet;

use super::branch::{in_context, left, on_branch};
use super::{Left, Lineage, Operation, Piece, Place, Plan, Refused};
use crate::clock::Time;
use crate::surgery::fidelity::Fidelity;
use crate::surgery::ranges;
use crate::surgery::table::minute;
use crate::surgery::when::When;
use crate::transcript::round::{Round, Session};

/// Rounds before a time, or before a round, become one index table; the others stay whole.
///
/// The cut lies before the first round in the context that began at that time or later: a
/// clock that ran backwards doesn't scatter what is kept. The table also has the rounds
/// before the cut that had already left the context.
///
/// # Errors
/// [`Refused::Nothing`] where no round lies before, or none after.
pub fn compress_before(
    session: Session,
    before: impl Into<When>,
    fidelity: Fidelity,
) -> Result<Plan, Refused> {
    let context = in_context(&session);
    let (cut, before) = match before.into() {
        When::At(moment) => (at_time(&session, &context, moment.at)?, moment.at),
        When::Round(seq) => at_round(&session, &context, seq)?,
    };
    let table = || session.rounds.iter().filter(|r| r.seq < cut).map(|r| r.seq);
    if table().next().is_none() {
        let first = session.round(cut).and_then(|r| r.started);
        return Err(Refused::Nothing(format!(
            "no round of {} lies before {}: the first began {}",
            session.id,
            minute(Some(before)),
            minute(first)
        )));
    }
    let whole: Vec<u32> = context.into_iter().filter(|seq| *seq >= cut).collect();
    let behind: Vec<u32> = session.rounds.iter().map(|r| r.seq).filter(|s| *s >= cut).collect();
    let mut pieces = vec![Piece::Index(table().map(place).collect())];
    pieces.extend(whole.iter().copied().map(place).map(Piece::Round));
    let left = left(&session, 0, &behind, &whole);
    let operation = Operation::CompressBefore { before };
    Ok(plan(session, operation, pieces, left, fidelity))
}

/// The first round to keep, by time.
fn at_time(session: &Session, context: &[u32], before: Time) -> Result<u32, Refused> {
    let begun = |seq: &&u32| {
        session.round(**seq).and_then(|r| r.started).is_some_and(|started| started >= before)
    };
    context.iter().find(begun).copied().ok_or_else(|| {
        let last = session.rounds.last().and_then(|r| r.started);
        Refused::Nothing(format!(
            "no round of {} would stay whole: its last round began {}, before {}",
            session.id,
            minute(last),
            minute(Some(before))
        ))
    })
}

/// The first round to keep, by number, and when it began.
fn at_round(session: &Session, context: &[u32], seq: u32) -> Result<(u32, Time), Refused> {
    let Some(cut) = context.iter().copied().find(|kept| *kept >= seq) else {
        return Err(Refused::Nothing(format!(
            "{} has no round {seq}: {}",
            session.id,
            there(session)
        )));
    };
    // A round without a time began no earlier than the one before it ended.
    let known = session.rounds.iter().filter(|r| r.seq <= cut).rev();
    let started = known.filter_map(|r| r.started).next();
    let before = started.or(session.started).unwrap_or_default();
    Ok((cut, before))
}

/// The rounds there are, in words.
pub(super) fn there(session: &Session) -> String {
    match (session.rounds.first(), session.rounds.last()) {
        (Some(first), Some(last)) => format!("it has rounds {}-{}", first.seq, last.seq),
        _ => "it has none".to_owned(),
    }
}

/// Rounds of an engagement become index tables where they stood, one for each run of
/// them; the others stay whole.
///
/// # Errors
/// [`Refused::Engagement`]; [`Refused::Nothing`] where all its rounds had left the context.
pub fn compress_engagement(
    session: Session,
    engagement: &str,
    fidelity: Fidelity,
) -> Result<Plan, Refused> {
    let tagged = tagged(&session, engagement)?;
    let context = in_context(&session);
    if !tagged.iter().any(|seq| context.contains(seq)) {
        return Err(Refused::Nothing(format!(
            "rounds {} of {}, tagged {engagement}, are no longer in its context: there is \
             nothing to compress",
            ranges::show(&tagged),
            session.id
        )));
    }
    let mut pieces: Vec<Piece> = Vec::new();
    for seq in &context {
        match pieces.last_mut() {
            _ if tagged.binary_search(seq).is_err() => pieces.push(Piece::Round(place(*seq))),
            Some(Piece::Index(run)) => run.push(place(*seq)),
            _ => pieces.push(Piece::Index(vec![place(*seq)])),
        }
    }
    let left = left(&session, 0, &all(&session), &context);
    let operation = Operation::CompressEngagement { engagement: engagement.to_owned() };
    Ok(plan(session, operation, pieces, left, fidelity))
}

/// Only the rounds of an engagement, those too that a compaction had taken out of the
/// context: they were asked for by name. Rounds that were rewound stay behind.
///
/// # Errors
/// [`Refused::Engagement`]; [`Refused::Nothing`] where all its rounds were rewound.
pub fn extract_engagement(
    session: Session,
    engagement: &str,
    fidelity: Fidelity,
) -> Result<Plan, Refused> {
    let tagged = tagged(&session, engagement)?;
    let mut own = on_branch(&session);
    own.retain(|seq| tagged.binary_search(seq).is_ok());
    if own.is_empty() {
        return Err(Refused::Nothing(format!(
            "the session {} was rewound to before its rounds {}, tagged {engagement}: there is \
             nothing to extract",
            session.id,
            ranges::show(&tagged)
        )));
    }
    let pieces = own.iter().copied().map(place).map(Piece::Round).collect();
    let left = left(&session, 0, &tagged, &own);
    let operation = Operation::ExtractEngagement { engagement: engagement.to_owned() };
    let mut plan = plan(session, operation, pieces, left, fidelity);
    plan.lineage = Lineage::for_one(&plan.sessions, engagement);
    Ok(plan)
}

/// All rounds, ascending.
pub(super) fn all(session: &Session) -> Vec<u32> {
    session.rounds.iter().map(|r| r.seq).collect()
}

fn place(seq: u32) -> Place {
    Place { session: 0, seq }
}

fn plan(
    session: Session,
    operation: Operation,
    pieces: Vec<Piece>,
    left: Left,
    fidelity: Fidelity,
) -> Plan {
    let sessions = vec![session];
    let lineage = Lineage::of(&sessions);
    Plan { operation, sessions, pieces, left, fidelity, lineage }
}

/// The rounds of an engagement, ascending.
fn tagged(session: &Session, engagement: &str) -> Result<Vec<u32>, Refused> {
    let is = |r: &&Round| r.engagement.as_deref() == Some(engagement);
    let found: Vec<u32> = session.rounds.iter().filter(is).map(|r| r.seq).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let there: BTreeSet<&str> =
        session.rounds.iter().filter_map(|r| r.engagement.as_deref()).collect();
    let there = if there.is_empty() {
        "none".to_owned()
    } else {
        there.into_iter().collect::<Vec<_>>().join(", ")
    };
    Err(Refused::Engagement {
        session: session.id.clone(),
        engagement: engagement.to_owned(),
        there,
    })
}

#[cfg(test)]
mod tests {
    use super::super::branch::tests::session;
    use super::*;
    use crate::surgery::when::tests::at;

    fn tag(session: &mut Session, seqs: &[u32], engagement: &str) {
        for seq in seqs {
            session.rounds[*seq as usize - 1].engagement = Some(engagement.into());
        }
    }

    /// `i12 3 4`: an index of 1 and 2, then 3 and 4 whole.
    fn shape(plan: &Plan) -> String {
        let shapes = plan.pieces.iter().map(|piece| match piece {
            Piece::Index(places) => {
                let seqs: String = places.iter().map(|p| p.seq.to_string()).collect();
                format!("i{seqs}")
            }
            Piece::Round(place) => place.seq.to_string(),
        });
        shapes.collect::<Vec<_>>().join(" ")
    }

    const LINE: [(u32, bool); 5] = [(0, false), (1, false), (2, false), (3, false), (4, false)];

    #[test]
    fn what_lies_before_a_time_or_a_round_becomes_one_table() {
        let cut = |before: &str| {
            let plan = compress_before(session(&LINE), at(before), Fidelity::default());
            plan.map(|p| shape(&p)).map_err(|e| e.to_string())
        };
        assert_eq!(cut("2026-03-19T10:02Z").unwrap(), "i12 3 4 5");
        assert_eq!(cut("2026-03-19T10:02:00.001Z").unwrap(), "i123 4 5");
        assert_eq!(cut("2026-03-19T11:03+01:00").unwrap(), "i123 4 5");
        assert!(
            cut("2026-03-19T10:00Z").unwrap_err().contains("the first began 2026-03-19T10:00Z")
        );
        assert!(cut("2026-03-20").unwrap_err().contains("its last round began 2026-03-19T10:04Z"));
        let by = |seq| {
            let plan = compress_before(session(&LINE), When::Round(seq), Fidelity::default());
            plan.map(|p| shape(&p)).map_err(|e| e.to_string())
        };
        assert_eq!(by(4).unwrap(), "i123 4 5");
        assert!(by(1).unwrap_err().contains("no round of 3f0a9d1e-0000 lies before"));
        assert!(by(6).unwrap_err().ends_with("has no round 6: it has rounds 1-5"));
        assert!(compress_before(Session::default(), When::Round(1), Fidelity::default()).is_err());
    }

    #[test]
    fn a_table_has_what_had_left_the_context_and_a_clock_that_ran_backwards_scatters_nothing() {
        // 2 was rewound, 4 is a compaction, 6 was rewound.
        let rounds =
            [(0, false), (1, false), (1, false), (3, true), (4, false), (5, false), (5, false)];
        let plan = |before: &str| {
            compress_before(session(&rounds), at(before), Fidelity::default()).unwrap()
        };
        assert_eq!(shape(&plan("2026-03-19T10:04Z")), "i1234 5 7");
        assert_eq!(plan("2026-03-19T10:04Z").left.rewound, [place(6)]);
        // Before the compaction: all that it took out of the context stays reachable.
        assert_eq!(shape(&plan("2026-03-19T10:01Z")), "i123 4 5 7");
        let mut skewed = session(&LINE);
        skewed.rounds[3].started = Some(at("2026-03-19T09:00Z"));
        skewed.rounds[1].started = None;
        let plan = compress_before(skewed, at("2026-03-19T10:02Z"), Fidelity::default()).unwrap();
        assert_eq!(shape(&plan), "i12 3 4 5");
    }

    #[test]
    fn runs_of_an_engagement_become_tables_in_place() {
        let mut s = session(&LINE);
        tag(&mut s, &[1, 2, 4], "console-work");
        tag(&mut s, &[5], "other");
        let plan = compress_engagement(s.clone(), "console-work", Fidelity::default()).unwrap();
        assert_eq!(shape(&plan), "i12 3 i4 5");
        assert_eq!(plan.lineage.engagements, ["console-work", "other"]);
        assert_eq!(
            (plan.lineage.rounds, plan.lineage.parent_session.as_str()),
            (5, "3f0a9d1e-0000")
        );
        assert_eq!(plan.lineage.ended, Some(at("2026-03-19T10:04:30Z")));
        let plan = extract_engagement(s.clone(), "console-work", Fidelity::default()).unwrap();
        assert_eq!(shape(&plan), "1 2 4");
        assert_eq!(plan.lineage.engagements, ["console-work"]);
        let refused = extract_engagement(s, "nobody", Fidelity::default()).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "no round of 3f0a9d1e-0000 is tagged nobody; there is: console-work, other (tag some \
             with: brain-guard tag 3f0a9d1e-0000 1-3 nobody)"
        );
        let refused = compress_engagement(session(&LINE), "x", Fidelity::default()).unwrap_err();
        assert!(refused.to_string().contains("there is: none"));
    }

    #[test]
    fn tagged_rounds_that_left_the_context() {
        // 2 was rewound, 4 is a compaction.
        let mut s = session(&[(0, false), (1, false), (1, false), (3, true), (4, false)]);
        tag(&mut s, &[1, 2], "early");
        let plan = extract_engagement(s.clone(), "early", Fidelity::default()).unwrap();
        assert_eq!((shape(&plan).as_str(), plan.left.rewound), ("1", vec![place(2)]));
        let refused = compress_engagement(s.clone(), "early", Fidelity::default()).unwrap_err();
        assert!(refused.to_string().starts_with("rounds 1-2 of 3f0a9d1e-0000, tagged early,"));
        tag(&mut s, &[1], "other");
        assert!(matches!(
            extract_engagement(s, "early", Fidelity::default()),
            Err(Refused::Nothing(_))
        ));
    }
}
