use super::*;
use crate::plan::{compress_before, extract_engagement, in_whole, merge};
use base::when::When;
use sessions::operation::Fidelity;
use testing::at;
use testing::rounds::session;

/// Ten rounds of 1,000 tokens, a base of 20,000, and what the last response measured.
fn measured(used: Option<u64>) -> Session {
    let mut session = session(&(0..10).map(|n| (n, false)).collect::<Vec<_>>());
    session.rounds.iter_mut().for_each(|round| round.tokens = 1_000);
    Session { base: Some(20_000), used, ..session }
}

fn cut(session: Session, seq: u32) -> Plan {
    compress_before(session, When::Round(seq), Fidelity::default()).unwrap()
}

/// Counts what a plan changes; tables cost nothing.
fn change(plan: &Plan, share: f64) -> Change {
    let change =
        Change::of(plan, &Measure { text: &|_| 0, summary: &|_, _| 500, share: &|_| share });
    Change { after: change.after - change.added, added: 0, ..change }
}

#[test]
fn a_context_is_its_base_and_its_rounds() {
    let now = |session: &Session| {
        let context = Context::of(session);
        (context.base, context.now, context.scaled(1_000))
    };
    assert_eq!(now(&measured(Some(30_000))), (Some(20_000), 30_000, 1_000));
    assert_eq!(now(&measured(None)), (Some(20_000), 30_000, 1_000), "no response yet");
    assert_eq!(now(&measured(Some(35_000))), (Some(20_000), 35_000, 1_500));
    assert_eq!(now(&measured(Some(27_000))), (Some(20_000), 27_000, 700));
    // Beyond the bounds of the factor, the base gives way.
    assert_eq!(now(&measured(Some(90_000))), (Some(70_000), 90_000, 2_000));
    assert_eq!(now(&measured(Some(20_000))), (Some(15_000), 20_000, 500));
    assert_eq!(now(&measured(Some(3_000))), (Some(0), 3_000, 300));
    let unknown = |used| Session { base: None, ..measured(used) };
    assert_eq!(now(&unknown(None)), (None, 10_000, 1_000));
    assert_eq!(now(&unknown(Some(25_000))), (Some(15_000), 25_000, 1_000));
    assert_eq!(now(&Session::default()), (None, 0, 1_000));
}

#[test]
fn a_plan_keeps_the_base_and_the_rounds_that_stay() {
    let of = |plan: &Plan, share| {
        let Change { before, after, behind, .. } = change(plan, share);
        (before, after, behind)
    };
    assert_eq!(of(&cut(measured(Some(30_000)), 8), 1.0), (30_000, 23_000, 10_000));
    assert_eq!(of(&cut(measured(Some(35_000)), 8), 1.0), (35_000, 24_500, 15_000));
    assert_eq!(of(&cut(measured(Some(30_000)), 8), 0.5), (30_000, 21_500, 10_000));
    let unknown = Session { base: None, ..measured(None) };
    let found = change(&cut(unknown, 8), 1.0);
    assert_eq!((found.base, found.before, found.after), (None, 10_000, 3_000));
    // What stays at the beginning is still in the cache.
    let mut tagged = measured(Some(30_000));
    tagged.rounds[..4].iter_mut().for_each(|round| round.engagement = Some("x".into()));
    let plan = extract_engagement(tagged, "x", Fidelity::default()).unwrap();
    assert_eq!(of(&plan, 1.0), (30_000, 24_000, 6_000));
    // Never less than the base and a message.
    assert_eq!(of(&plan, 0.0), (30_000, 20_001, 10_000));
    assert_eq!(Context::of(&plan.sessions[0]).without(99_000), 20_001);
}

#[test]
fn a_summary_is_only_its_text() {
    let mut rounds: Vec<(u32, bool)> = (0..10).map(|n| (n, false)).collect();
    rounds[3].1 = true;
    let mut compacted = session(&rounds);
    compacted.rounds.iter_mut().for_each(|round| round.tokens = 1_000);
    (compacted.base, compacted.used) = (Some(20_000), Some(27_000));
    let found = change(&cut(compacted, 8), 1.0);
    assert_eq!((found.before, found.after), (27_000, 23_500));
}

#[test]
fn a_merge_is_compared_with_the_larger_session() {
    let (a, mut b) = (measured(Some(30_000)), measured(Some(50_000)));
    b.id = "bbbb".into();
    b.base = Some(40_000);
    for round in &mut b.rounds {
        round.started = Some(at("2026-03-20T10:00Z"));
    }
    let plan = merge(a, b, Fidelity::default()).unwrap();
    let found = change(&plan, 1.0);
    assert_eq!((found.before, found.after, found.frees()), (50_000, 60_000, 0));
    let with = Plan { voices: true, ..plan };
    assert!(Change::estimate(&with).added > AROUND_A_TABLE);
}

#[test]
fn what_stays_whole_changes_nothing() {
    let operation = crate::plan::Performed::Merge;
    let found = change(&in_whole(measured(Some(33_000)), operation, Fidelity::default()), 1.0);
    assert_eq!((found.before, found.after, found.behind), (33_000, 33_000, 0));
}
