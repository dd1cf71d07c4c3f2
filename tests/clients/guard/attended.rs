//! A user at the terminal: drafts, queued prompts and the notice.

use serde_json::json;

use super::{asked, climb_and_seal, deliveries, moves, only_result, percent, step, unattended};
use crate::support::mock::{Gate, Reply};
use crate::support::world::World;

/// Settings with a notice of this many seconds.
fn notice(seconds: u64) -> serde_json::Value {
    json!({"boundary": {"attended_notice_seconds": seconds, "min_interval_seconds": 0}})
}

#[test]
fn a_half_typed_draft_outlives_the_boundary() {
    let gate = Gate::default();
    let held = gate.clone();
    let mut agent = climb_and_seal();
    agent.push(step(move |_| {
        Reply::text("begun\n\nI end my turn.\n").hang(&held).tokens(percent(31.2))
    }));
    agent.push(step(|r| {
        assert_eq!(deliveries(r), 1);
        Reply::text("going on").tokens(percent(6.0))
    }));
    let world = World::build().guard_settings(unattended()).agent(moves(agent)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(4);
    tui.type_text("a half typed draft");
    tui.wait_screen("the draft", |_| tui.prompt_box().as_deref() == Some("a half typed draft"));
    gate.open();
    let last = world.mock.wait_main(5);
    assert_ne!(last.session, world.mock.main()[3].session);
    assert!(!last.said("half typed"), "nobody sent it");
    tui.wait_screen("the answer", |screen| screen.contains("going on"));
    tui.wait_idle();
    assert_eq!(tui.prompt_box().as_deref(), Some("a half typed draft"));
}

#[test]
fn a_queued_prompt_runs_first_in_the_old_session() {
    let gate = Gate::default();
    let held = gate.clone();
    let mut agent = climb_and_seal();
    agent.push(step(move |_| {
        Reply::text("begun\n\nI end my turn.\n").hang(&held).tokens(percent(31.2))
    }));
    agent.push(step(|r| {
        assert_eq!(r.prompt(), "and look at the tests");
        Reply::text("looked").tokens(percent(31.3))
    }));
    agent.push(step(|r| {
        assert_eq!(deliveries(r), 1);
        assert!(
            r.user_texts().iter().any(|t| t.contains("> and look at the tests")),
            "the last prompt is quoted"
        );
        Reply::text("going on").tokens(percent(6.0))
    }));
    let world = World::build().guard_settings(unattended()).agent(moves(agent)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(4);
    tui.prompt("and look at the tests");
    tui.wait_screen("the queue", |screen| {
        tui.prompt_box().as_deref() == Some("") || screen.contains("ueued")
    });
    gate.open();
    world.mock.wait_main(6);
    let all = world.mock.main();
    assert_eq!(all[4].session, all[0].session, "the queued prompt belongs to the old session");
    assert_ne!(all[5].session, all[0].session);
}

#[test]
fn a_prompt_within_the_notice_cancels_it_for_its_turn() {
    let mut agent = climb_and_seal();
    agent.push(step(|_| Reply::text("I end my turn.").tokens(percent(31.2))));
    agent.push(step(|r| {
        assert_eq!(r.prompt(), "wait, list the files first");
        Reply::bash("ls").tokens(percent(31.3))
    }));
    agent.push(step(|r| {
        let (text, error) = only_result(r);
        assert!(
            error && text.contains("blocked Bash") && !text.contains("are sealed"),
            "by the tier alone: {text}"
        );
        Reply::text("I can't.").tokens(percent(31.4))
    }));
    agent.push(step(|r| {
        assert_eq!(deliveries(r), 1);
        Reply::text("going on").tokens(percent(6.0))
    }));
    let world = World::build().guard_settings(notice(5)).agent(moves(agent)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(4);
    tui.wait_screen("the notice", |screen| {
        screen.contains("restarts from its notes in 5 s") && screen.contains("goes first")
    });
    tui.prompt("wait, list the files first");
    world.mock.wait_main(6);
    let last = world.mock.wait_main(7);
    let all = world.mock.main();
    assert!(
        all[..6].iter().all(|r| r.session == all[0].session),
        "the cancelled turn runs in the old session"
    );
    assert_ne!(last.session, all[0].session);
    let waited = last.at.saturating_sub(all[5].at);
    assert!(waited.as_secs_f64() >= 5.0, "the next end gives notice anew: {waited:?}");
}

#[test]
fn a_queued_turn_longer_than_the_clear_limit_loses_no_notes() {
    let (last, queued) = (Gate::default(), Gate::default());
    let (held, queue_held) = (last.clone(), queued.clone());
    let mut agent = climb_and_seal();
    agent.push(step(move |_| {
        Reply::text("begun\n\nI end my turn.\n").hang(&held).tokens(percent(31.2))
    }));
    agent.push(step(move |_| {
        Reply::text("looking\n\nlooked\n").hang(&queue_held).tokens(percent(31.3))
    }));
    agent.push(step(|r| {
        assert_eq!(deliveries(r), 1);
        Reply::text("going on").tokens(percent(6.0))
    }));
    let mut settings = unattended();
    settings["boundary"]["step_seconds"] = json!(1);
    let world = World::build().guard_settings(settings).agent(moves(agent)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(4);
    tui.prompt("and look at the tests");
    tui.wait_screen("the queue", |screen| screen.contains("ueued"));
    last.open();
    world.mock.wait_main(5);
    world.wait("end of the clear's time", || {
        (asked(&world, "status")["boundary"]["step"] == "failed").then_some(())
    });
    queued.open();
    let next = world.mock.wait_main(6);
    assert_ne!(next.session, world.mock.main()[4].session);
    tui.wait_screen("the answer", |screen| screen.contains("going on"));
    tui.wait_idle();
    assert_eq!(asked(&world, "status")["boundary"], json!(null));
}
