use super::*;
use crate::job::refusal::Taken;
use crate::job::{Holder, Phase};

fn record(state: State) -> Record {
    Record { state, ..Record::default() }
}

fn job(name: &str, state: State, held: Held) -> Seen {
    let name = name.to_owned();
    Seen { name, record: Some(record(state)), file: true, auto: false, held }
}

/// A name without a job: a default name, or a new one.
fn nothing(name: &str, auto: bool) -> Seen {
    Seen { name: name.to_owned(), record: None, file: false, auto, held: Held::Nobody }
}

fn other() -> Holder {
    Holder { session: "other".into(), client: None }
}

/// A session on the named job `a`, sealed, with a summary.
fn at(named: Option<Seen>) -> Situation {
    Situation {
        session: "s".into(),
        own: job("a", State::Active, Held::Me),
        named,
        taken: None,
        known: vec!["a".into()],
        asked: false,
        under_way: None,
        sealed: Some(3),
        summed: true,
    }
}

/// Like [`at`], with a default job.
fn default_at(named: Option<Seen>, asked: bool) -> Situation {
    let own = Seen { auto: true, ..job("app-20260101-1", State::Active, Held::Me) };
    Situation { own, asked, ..at(named) }
}

const FOCUS: Verb = Verb::Focus { no_clear: false };

/// Summarizes the effects.
fn short(moved: &Transition) -> String {
    let one = |effect: &Effect| match effect {
        Effect::Create(job) => format!("create {job}"),
        Effect::Adopt { from, to } => format!("adopt {from} as {to}"),
        Effect::Take(job) => format!("take {job}"),
        Effect::Leave { job, aside: true } => format!("pause {job}"),
        Effect::Leave { job, aside: false } => format!("leave {job}"),
        Effect::Close(job) => format!("close {job}"),
    };
    let next_work = match &moved.next_work {
        NextWork::Stays => None,
        NextWork::Focus { job, clear: true, .. } => Some(format!("clear for {job}")),
        NextWork::Focus { job, .. } => Some(format!("go on with {job}")),
        NextWork::Pause { job } => Some(format!("go on without {job}")),
        NextWork::Complete { job, version } => Some(format!("cross from {job} {version}")),
    };
    moved.effects.iter().map(one).chain(next_work).collect::<Vec<_>>().join(", ")
}

#[test]
fn every_way_that_is_open() {
    let active = |held| Some(job("b", State::Active, held));
    let paused = |by: Option<&str>| {
        let mut seen = job("b", State::Paused, Held::Nobody);
        seen.record.as_mut().unwrap().paused_by = by.map(str::to_owned);
        Some(seen)
    };
    let new = || Some(nothing("b", false));
    let reload = Some(Delivery::Reload);
    let template = Some(Delivery::Template);
    let asked = |named| Situation { asked: true, ..at(named) };
    let no_clear = Verb::Focus { no_clear: true };
    let fileless = Seen { file: false, ..job("b", State::Active, Held::Nobody) };
    let idle = |named| Situation { own: nothing("app-20260101-2", true), ..asked(named) };
    let left = |named| Situation { own: nothing("app-20260101-3", true), ..at(named) };
    let table = vec![
        // The session leaves a named job for another one.
        (FOCUS, at(active(Held::Nobody)), "take b, pause a, clear for b", reload),
        (FOCUS, asked(active(Held::Me)), "take b, pause a, clear for b", reload),
        (FOCUS, at(paused(Some("s"))), "take b, pause a, clear for b", reload),
        (
            FOCUS,
            at(Some(job("b", State::Completed, Held::Nobody))),
            "take b, pause a, clear for b",
            reload,
        ),
        (FOCUS, at(Some(fileless)), "take b, pause a, clear for b", template),
        (FOCUS, at(new()), "create b, pause a, clear for b", template),
        (FOCUS, asked(new()), "create b, pause a, clear for b", template),
        (no_clear, at(active(Held::Nobody)), "take b, pause a, go on with b", None),
        (no_clear, at(new()), "create b, pause a, go on with b", None),
        // A default job is renamed if a person asked, otherwise left.
        (FOCUS, default_at(new(), true), "adopt app-20260101-1 as b, go on with b", None),
        (FOCUS, default_at(new(), false), "create b, leave app-20260101-1, clear for b", template),
        (
            FOCUS,
            default_at(active(Held::Nobody), true),
            "take b, leave app-20260101-1, clear for b",
            reload,
        ),
        (FOCUS, idle(new()), "create b, go on with b", None),
        (FOCUS, left(new()), "create b, clear for b", template),
        (FOCUS, left(paused(None)), "take b, clear for b", reload),
        // The session already works on the job.
        (FOCUS, at(Some(job("a", State::Active, Held::Me))), "", None),
        (Verb::Resume, at(Some(job("a", State::Active, Held::Me))), "", None),
        (FOCUS, idle(Some(nothing("app-20260101-2", true))), "", None),
        // The session paused this job, so its work is still in the conversation.
        (Verb::Resume, left(paused(Some("s"))), "take b, go on with b", None),
        (Verb::Resume, left(paused(Some("t"))), "take b, clear for b", reload),
        (Verb::Resume, at(active(Held::Nobody)), "take b, pause a, clear for b", reload),
        (Verb::Pause, at(None), "pause a, go on without a", None),
        (
            Verb::Pause,
            default_at(None, false),
            "pause app-20260101-1, go on without app-20260101-1",
            None,
        ),
        (Verb::Complete, at(None), "close a, cross from a 3", Some(Delivery::Transition)),
    ];
    for (verb, situation, effects, crosses) in table {
        let moved = transition(verb, &situation)
            .unwrap_or_else(|refusal| panic!("{verb:?} {situation:?}: {refusal}"));
        assert_eq!(short(&moved), effects, "{verb:?} {situation:?}");
        assert_eq!(moved.crosses, crosses, "{verb:?} {situation:?}");
    }
}

#[test]
fn every_refusal_names_a_way_out() {
    let held = |name| job(name, State::Active, Held::Other(other()));
    let under_way = |delivery, clearing| {
        let crosses = if delivery == Delivery::Sealed { "a" } else { "c" };
        Situation {
            under_way: Some(UnderWay { job: crosses.into(), delivery, clearing }),
            ..at(Some(job("b", State::Active, Held::Nobody)))
        }
    };
    let new = Some(nothing("B", false));
    let twin = Situation { taken: Some(Taken::Twin("b".into())), ..at(new.clone()) };
    let claimed = Situation { taken: Some(Taken::Default), ..at(new.clone()) };
    let jobless = Situation { own: nothing("app-20260101-1", true), ..at(None) };
    let stolen = Situation { own: held("a"), ..at(None) };
    let mut phased = at(None);
    phased.own.record.as_mut().unwrap().phase =
        Some(Phase { name: "plan".into(), ..Phase::default() });
    phased.sealed = None;
    phased.summed = false;
    let clearing = Delivery::Sealed;
    let table = vec![
        (
            FOCUS,
            at(Some(held("b"))),
            "keeps the job a. To free the job, run `brain-guard job pause`",
        ),
        (Verb::Resume, at(Some(held("b"))), "works on the job b"),
        (FOCUS, twin, "`brain-guard job focus b`"),
        (FOCUS, claimed, "choose another one"),
        (Verb::Resume, at(new), "jobs: a; `brain-guard job focus B` starts it"),
        (Verb::Resume, at(None), "`brain-guard job list`"),
        (Verb::Pause, jobless.clone(), "`brain-guard append`"),
        (Verb::Complete, jobless, "`brain-guard append`"),
        (Verb::Pause, stolen.clone(), "works on the job a"),
        (Verb::Complete, stolen, "works on the job a"),
        (Verb::Complete, phased, "`brain-guard phase exit`"),
        (Verb::Complete, Situation { sealed: None, ..at(None) }, "seal --no-clear && brain-guard"),
        (Verb::Complete, Situation { summed: false, ..at(None) }, "seal --no-clear --summary '"),
        (Verb::Complete, under_way(Delivery::Reload, false), "end your turn"),
        (FOCUS, under_way(clearing, true), "end your turn"),
        (Verb::Pause, under_way(clearing, true), "end your turn"),
        (Verb::Complete, under_way(clearing, true), "end your turn"),
    ];
    for (verb, situation, said) in table {
        let refusal = transition(verb, &situation).unwrap_err().to_string();
        assert!(refusal.contains(said), "{verb:?} {situation:?}: {refusal}");
    }
    // A completion needs a waiting seal and replaces it.
    assert!(transition(Verb::Complete, &under_way(Delivery::Sealed, false)).is_ok());
    assert!(transition(FOCUS, &under_way(Delivery::Reload, false)).is_ok());
}

#[test]
fn a_resume_without_a_name_means_what_was_paused_last_here() {
    let paused = |name: &str, by: &str, held| {
        let mut seen = job(name, State::Paused, held);
        seen.record.as_mut().unwrap().paused_by = Some(by.into());
        seen
    };
    let active = job("a", State::Active, Held::Nobody);
    let (b, c) = (paused("b", "s", Held::Nobody), paused("c", "t", Held::Nobody));
    let held = paused("d", "t", Held::Other(other()));
    let name = |jobs: &[Seen]| meant(jobs, "s").map(|seen| seen.name.clone());
    assert_eq!(name(&[active.clone(), b.clone(), c.clone()]), Ok("b".into()));
    assert_eq!(name(&[active.clone(), c.clone(), held.clone()]), Ok("c".into()));
    assert_eq!(name(&[active, held]), Err(Refusal::NothingPaused));
    let several = Refusal::SeveralPaused(vec!["c".into(), "e".into()]);
    assert_eq!(name(&[c, paused("e", "t", Held::Nobody)]), Err(several));
    let mine = paused("f", "s", Held::Nobody);
    assert!(matches!(name(&[b, mine]), Err(Refusal::SeveralPaused(_))));
}
