//! Merges of sessions made from the same session have each round once.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::fidelity::fidelities;
use super::tagged;
use super::world::{IDS, Read, all_of, made, merged_of, seqs};
use base::when::When;
use sessions::operation::Fidelity;
use surgery::plan::{Piece, Place, Plan, compress_before};

/// A session cut at a round: the rounds before it as a table.
fn cut(read: &Read, seq: u32, fidelity: Fidelity) -> Option<Plan> {
    compress_before(read.session.clone(), When::Round(seq), fidelity).ok()
}

/// The number of rounds in a merge that are not tables.
fn whole(plan: &Plan) -> usize {
    plan.whole().filter(|place| is_round(plan, *place)).count()
}

fn is_round(plan: &Plan, place: Place) -> bool {
    plan.at(place).is_some_and(|(_, round)| !round.user_preview.starts_with("[brain-guard]"))
}

/// The content of a round's messages.
fn said(read: &Read, seq: u32) -> Vec<serde_json::Value> {
    let rows = read.rows[&seq].iter().filter_map(|line| serde_json::from_slice(line).ok());
    rows.map(|row: serde_json::Value| row["message"]["content"].clone()).collect()
}

/// The row that a round's first row was copied from.
fn origin(read: &Read, seq: u32) -> Option<String> {
    let first = read.rows[&seq].iter().next()?;
    let row: serde_json::Value = serde_json::from_slice(first).ok()?;
    Some(row["forkedFrom"]["messageUuid"].as_str()?.to_owned())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Two cuts of a session, one of them at any fidelity: the rounds of the other stay, and a
    /// table stays for rounds in neither.
    #[test]
    fn two_cuts_of_a_session((_, read) in tagged(), at in any::<[u32; 2]>(), fidelity in fidelities()) {
        let context = read.session.in_context();
        let place = |at: u32| context[at as usize % context.len()];
        prop_assume!(!context.is_empty());
        let lean = cut(&read, place(at[0]), fidelity);
        let full = cut(&read, place(at[1]), Fidelity::default());
        let (Some(lean), Some(full)) = (lean, full) else { return Ok(()) };
        let there = [&lean, &full].into_iter().flat_map(|plan| seqs(plan.whole().chain(plan.summaries())));
        let there: BTreeSet<u32> = there.collect();
        let told: BTreeSet<u32> = seqs(lean.indexed()).into_iter().chain(seqs(full.indexed())).collect();
        let (a, _) = made(IDS[0], &lean, &[&read])?;
        let (b, _) = made(IDS[1], &full, &[&read])?;
        for (one, two) in [(&a, &b), (&b, &a)] {
            let plan = merged_of(one, two).map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert_eq!(whole(&plan), there.len());
            let tables = plan.whole().count() - there.len();
            prop_assert_eq!(tables == 0, told.is_subset(&there));
            prop_assert!(tables <= 2, "one on each side of a summary");
            for place in plan.left.doubled.iter().filter(|place| is_round(&plan, **place)) {
                let fuller = plan.sessions[place.session].id == IDS[0];
                let (gone, other) = if fuller { (&a, &b) } else { (&b, &a) };
                let first = origin(gone, place.seq);
                let stays = other.rows.keys().find(|seq| origin(other, **seq) == first);
                let (gone, stays) = (said(gone, place.seq), said(other, *stays.expect("the other")));
                prop_assert!(fuller || stays.starts_with(&gone), "a fuller round went");
            }
            prop_assert_eq!(all_of(&plan).len(), a.session.rounds.len() + b.session.rounds.len());
        }
    }

    /// A merge changes times; another copy of one of its sources is still recognized, even as a
    /// copy of a copy.
    #[test]
    fn a_merge_and_another_copy((_, a) in tagged(), (_, mut b) in tagged(), at in any::<u32>()) {
        b.session.id = IDS[1].to_owned();
        let Ok(plan) = merged_of(&a, &b) else { return Ok(()) };
        prop_assume!(a.session.rounds != b.session.rounds);
        let (merged, _) = made(IDS[2], &plan, &[&a, &b])?;
        let context = b.session.in_context();
        let Some(child) = cut(&b, context[at as usize % context.len()], Fidelity::default()) else { return Ok(()) };
        let beyond = |place: &Place| context.binary_search(&place.seq).is_err();
        let tables = child.pieces.iter().filter(|piece| {
            matches!(piece, Piece::Index(places) if places.iter().any(beyond))
        });
        let tables = tables.count();
        let (child, _) = made(IDS[3], &child, &[&b])?;
        let plan = merged_of(&merged, &child).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(plan.whole().count(), merged.session.rounds.len() + tables);
        // A copy of the copy: its rows name the merge and the sources of that.
        let context = merged.session.in_context();
        let Some(again) = cut(&merged, context[at as usize % context.len()], Fidelity::default()) else { return Ok(()) };
        let of_b = again.whole().filter(|place| {
            let id = merged.session.round(place.seq).and_then(|round| round.first_id.clone());
            child.session.rounds.iter().any(|round| id.is_some() && origin(&child, round.seq) == origin(&merged, place.seq))
        });
        let of_b = of_b.count();
        let (again, _) = made(IDS[0], &again, &[&merged])?;
        let plan = merged_of(&again, &child).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(plan.left.doubled.iter().filter(|place| is_round(&plan, **place)).count(), of_b);
    }
}
