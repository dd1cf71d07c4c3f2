use proptest::prelude::*;

use super::testing::token;
use super::*;

fn at(session: &str, now: Time) -> Situation<'_> {
    Situation { session, agents: 0, now }
}

fn operated() -> Report {
    Report::Operated { successor: "new".into() }
}

#[test]
fn the_client_goes_on_in_the_successor() {
    let mut t = Succession { goes_on: true, ..token(Step::Agreed) };
    let now = t.since;
    let ended = Report::TurnComplete { is_aborted: false };
    assert!(matches!(next(&mut t, &ended, &at("old", now)), Action::Operate { .. }));
    let action = next(&mut t, &operated(), &at("old", now));
    assert_eq!(action, Action::Resume { to: "new".into() });
    assert!(t.leads_to("new") && !t.leads_to("old"));
    let action = next(&mut t, &Report::Resumed, &at("new", now));
    assert!(matches!(action, Action::Submit { .. }));
    assert_eq!(t.step, Step::Done);
    assert_eq!(next(&mut t, &Report::Resumed, &at("new", now)), Action::None);
}

#[test]
fn nothing_happens_before_the_user_agrees() {
    let mut t = token(Step::Proposed);
    let now = t.since;
    for report in [Report::TurnComplete { is_aborted: false }, Report::Agreed, operated()] {
        assert_eq!(next(&mut t, &report, &at("old", now)), Action::None);
        assert_eq!(t.step, Step::Proposed);
    }
}

#[test]
fn an_undo_makes_nothing() {
    let mut t = Succession { work: Work::Enter("first".into()), ..token(Step::Agreed) };
    let now = t.since;
    let action = next(&mut t, &Report::Agreed, &at("old", now));
    assert_eq!(action, Action::Resume { to: "first".into() });
    assert_eq!(next(&mut t, &Report::Resumed, &at("first", now)), Action::None);
    assert_eq!(t.step, Step::Done);
}

#[test]
fn a_client_that_stays_or_fails_leaves_the_user_where_they_were() {
    let now = token(Step::Agreed).since;
    let refused = Report::Failed { what: "resume".into(), why: "refused".into() };
    for (report, step) in [(Report::Resumed, Step::Failed), (refused, Step::Proposed)] {
        let mut t = Succession { to: Some("new".into()), ..token(Step::Resuming) };
        assert_eq!(next(&mut t, &report, &at("old", now)), Action::None);
        assert_eq!(t.step, step, "{report:?}");
        // Only what comes after the resume failed: the user is in the successor.
        let mut t = Succession { to: Some("new".into()), ..token(Step::Resuming) };
        next(&mut t, &report, &at("new", now));
        assert_eq!(t.step, Step::Done, "{report:?}");
    }
}

#[test]
fn a_refusal_is_told_in_the_clients_words_and_yes_tries_again() {
    let why = "brain-guard: $.command.run: the session was stopped".to_owned();
    let refused = Report::Failed { what: "resume".into(), why };
    let said = "Claude Code refused to change sessions (the session was stopped)";
    let mut t = Succession { to: Some("new".into()), ..token(Step::Resuming) };
    let now = t.since;
    next(&mut t, &refused, &at("old", now));
    assert_eq!((t.why.as_deref(), &t.to), (Some(said), &None));
    assert!(t.advance(Step::Agreed, now));
    assert!(matches!(next(&mut t, &Report::Agreed, &at("old", now)), Action::Operate { .. }));
    // An undo is a command of its own.
    let mut t = Succession { work: Work::Enter("new".into()), ..token(Step::Resuming) };
    next(&mut t, &refused, &at("old", now));
    assert_eq!((t.step, t.why.as_deref()), (Step::Failed, Some(said)));
}

#[test]
fn a_prompt_in_between_puts_it_off_to_the_end_of_its_turn() {
    let mut t = token(Step::Operating);
    let now = t.since;
    assert_eq!(next(&mut t, &Report::Overtaken { successor: None }, &at("old", now)), Action::None);
    let ended = Report::TurnComplete { is_aborted: false };
    assert!(matches!(next(&mut t, &ended, &at("old", now)), Action::Operate { .. }));
}

#[test]
fn background_agents_are_waited_for_but_not_for_ever() {
    let mut t = token(Step::Agreed);
    let busy = |now| Situation { agents: 2, ..at("old", now) };
    let now = t.since;
    assert!(matches!(next(&mut t, &Report::Agreed, &busy(now)), Action::Wait { .. }));
    assert!(matches!(next(&mut t, &Report::Waited, &busy(now + AGENTS)), Action::Operate { .. }));
}

#[test]
fn every_step_has_a_deadline() {
    for step in [Step::Proposed, Step::Agreed, Step::Operating, Step::Resuming] {
        let t = token(step);
        assert!(t.is_open(t.since, true) && !t.is_open(t.since, false), "{step:?}");
        assert!(!t.is_open(t.since + OFFERED, true), "{step:?}");
    }
}

proptest! {
    #[test]
    fn it_ends_once(steps in proptest::collection::vec(0usize..6, 0..20)) {
        use Step::{Agreed, Done, Failed, Operating, Proposed, Resuming};
        let all = [Proposed, Agreed, Operating, Resuming, Done, Failed];
        let mut t = token(Proposed);
        let mut seen = vec![t.step];
        for s in steps {
            if t.advance(all[s], t.since) {
                seen.push(t.step);
            }
        }
        prop_assert!(seen.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert!(seen.iter().filter(|step| **step >= Done).count() <= 1);
    }
}
