//! The operations on one session: compress and extract.

use std::collections::BTreeSet;

use super::{Left, Performed, Piece, Place, Plan, Refused, tables};
use crate::ranges;
use base::clock::Time;
use base::shown::local_minute;
use base::when::When;
use sessions::operation::Fidelity;
use sessions::round::{Round, Session};

/// Turns the rounds before a time, or before a round, into one index table; the others stay whole.
///
/// Cuts before the first round in the context that began at that time or later. A clock that ran
/// backwards does not scatter what stays. The table also has the rounds before the cut that had
/// already left the context.
///
/// # Errors
/// [`Refused::Nothing`] if no round is before the cut, or none after it.
pub fn compress_before(
    session: Session,
    before: impl Into<When>,
    fidelity: Fidelity,
) -> Result<Plan, Refused> {
    let context = session.in_context();
    let (cut, before) = match before.into() {
        When::At(moment) => (at_time(&session, &context, moment.at)?, moment.at),
        When::Round(seq) => at_round(&session, &context, seq)?,
    };
    let (gone, whole) = context.split_at(cut);
    let first = whole.iter().copied().min().unwrap_or_default();
    let away = session.rounds.iter().filter(|round| round.seq < first && !round.is_sent());
    let table = tables::with_away(gone, &away.map(|round| round.seq).collect::<Vec<_>>());
    if table.is_empty() {
        let first = session.round(first).and_then(|r| r.started);
        return Err(Refused::Nothing(format!(
            "no round of {} is before {}: the first began {}",
            session.id,
            local_minute(Some(before)),
            local_minute(first)
        )));
    }
    let mut pieces = tables::pieces(&session, &table);
    pieces.extend(whole.iter().copied().map(Place::first).map(Piece::Round));
    let left = Left::of(&session, 0, &all(&session), &[whole, &table].concat());
    let operation = Performed::CompressBefore { before };
    Ok(Plan::new(operation, vec![session], pieces, left, fidelity))
}

/// The position in the context of the first round to keep, by time. A summary is later than the
/// rounds that were kept behind it.
fn at_time(session: &Session, context: &[u32], before: Time) -> Result<usize, Refused> {
    let has_begun = |at: usize| {
        let started = session.round(context[at]).and_then(|r| r.started);
        started.is_some_and(|started| started >= before)
    };
    let is_of_kept = |at: usize| context.get(at + 1).is_some_and(|next| *next < context[at]);
    let first = (0..context.len()).find(|at| has_begun(*at) && !is_of_kept(*at));
    let first = first.map(|at| if (0..at).all(has_begun) { 0 } else { at });
    first.ok_or_else(|| {
        let last = session.rounds.last().and_then(|r| r.started);
        Refused::Nothing(format!(
            "no round of {} would be kept whole: the last one began {}, before {}",
            session.id,
            local_minute(last),
            local_minute(Some(before))
        ))
    })
}

/// The position in the context of the first round to keep, by number, and when that began.
fn at_round(session: &Session, context: &[u32], seq: u32) -> Result<(usize, Time), Refused> {
    let there = context.iter().copied().enumerate().filter(|(_, kept)| *kept >= seq);
    let Some((at, cut)) = there.min_by_key(|(_, kept)| *kept) else {
        return Err(Refused::Nothing(format!(
            "{} has no round {seq}: {}",
            session.id,
            session.describe_rounds()
        )));
    };
    // A round without a time gets that of an earlier round.
    let mut known = session.rounds.iter().filter(|r| r.seq <= cut).rev();
    let started = known.find_map(|r| r.started);
    let before = started.or(session.started).unwrap_or_default();
    Ok((at, before))
}

/// Turns the rounds of an engagement into index tables in place, one for each run; the others stay
/// whole.
///
/// # Errors
/// [`Refused::Engagement`]; [`Refused::Nothing`] if all its rounds had left the context.
pub fn compress_engagement(
    session: Session,
    engagement: &str,
    fidelity: Fidelity,
) -> Result<Plan, Refused> {
    let tagged = tagged(&session, engagement)?;
    let context = session.in_context();
    if !context.iter().any(|seq| tagged.binary_search(seq).is_ok()) {
        return Err(Refused::Nothing(format!(
            "rounds {} of {}, tagged {engagement}, are no longer in its context: there is \
             nothing to compress",
            ranges::show(&tagged),
            session.id
        )));
    }
    let (mut pieces, mut run) = (Vec::new(), Vec::new());
    for seq in &context {
        if tagged.binary_search(seq).is_ok() {
            run.push(*seq);
            continue;
        }
        pieces.extend(tables::pieces(&session, &std::mem::take(&mut run)));
        pieces.push(Piece::Round(Place::first(*seq)));
    }
    pieces.extend(tables::pieces(&session, &run));
    let left = Left::of(&session, 0, &all(&session), &context);
    let operation = Performed::CompressEngagement { engagement: engagement.to_owned() };
    Ok(Plan::new(operation, vec![session], pieces, left, fidelity))
}

/// Keeps only the rounds of an engagement. Rounds that a compaction removed from the context stay,
/// because they were asked for by name; rewound and cut-off rounds do not.
///
/// # Errors
/// [`Refused::Engagement`]; [`Refused::Nothing`] if all its rounds were rewound or cut off.
pub fn extract_engagement(
    session: Session,
    engagement: &str,
    fidelity: Fidelity,
) -> Result<Plan, Refused> {
    let tagged = tagged(&session, engagement)?;
    let mut own = session.on_branch();
    own.retain(|seq| tagged.binary_search(seq).is_ok());
    if own.is_empty() {
        return Err(Refused::Nothing(format!(
            "rounds {} of {}, tagged {engagement}, were rewound or cut off: there is nothing to \
             extract",
            ranges::show(&tagged),
            session.id
        )));
    }
    let pieces = own.iter().copied().map(Place::first).map(Piece::Round).collect();
    let left = Left::of(&session, 0, &tagged, &own);
    let operation = Performed::ExtractEngagement { engagement: engagement.to_owned() };
    Ok(Plan::new(operation, vec![session], pieces, left, fidelity))
}

/// Every round in the context, whole. The caller changes the values in their rows on the way.
pub fn in_whole(session: Session, operation: Performed, fidelity: Fidelity) -> Plan {
    let context = session.in_context();
    let pieces = context.iter().copied().map(Place::first).map(Piece::Round).collect();
    let left = Left::of(&session, 0, &all(&session), &context);
    Plan::new(operation, vec![session], pieces, left, fidelity)
}

/// All rounds, ascending.
pub(super) fn all(session: &Session) -> Vec<u32> {
    session.rounds.iter().map(|r| r.seq).collect()
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
mod tests;
