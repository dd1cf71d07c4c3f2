//! The boundary through the client's tmux pane, without the module.

use std::sync::Arc;

use serde_json::{Value, json};

use super::story::{
    alone, end, logged, note, patient, said, seal, sealed, status, wait_acknowledged, with_chords,
};
use super::{Move, moves, percent, step};
use crate::support::client::{OLDEST, Terminal, Tui};
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

/// The moves from the first turn into the second session, whose first request is the sixth.
pub(super) fn crossing() -> Vec<Move> {
    vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| Reply::bash("echo two").tokens(percent(31.0))),
        note("the lexer drops the last token"),
        seal(),
        end(),
        step(|_| Reply::bash("echo goes-on").tokens(percent(6.0))),
        step(|_| Reply::text("going on").tokens(percent(6.5))),
    ]
}

pub(super) fn settings(more: &[(&str, Value)]) -> Value {
    let mut settings = patient(alone());
    for (key, value) in more {
        settings["boundary"][*key] = value.clone();
    }
    settings
}

fn world(more: &[(&str, Value)]) -> World {
    let settings = settings(more);
    World::build().without_mod().in_tmux().guard_settings(settings).agent(moves(crossing())).start()
}

/// The new session's first request contains the file once, and the run continues.
#[track_caller]
pub(super) fn arrived(world: &World, tui: &Tui) -> Arc<Request> {
    let first = world.mock.wait_main(6);
    assert_ne!(first.session, world.mock.main()[0].session, "a fresh session");
    let file = sealed(world).pop().expect("a sealed file");
    assert_eq!(said(&first, &file), 1, "{first}");
    world.mock.wait_main(7);
    wait_acknowledged(world);
    tui.wait_idle();
    assert_eq!(world.mock.main().len(), 7, "one turn, not two");
    world.wait("word of the arrival", || {
        logged(world).iter().any(|e| e["kind"] == "arrived" && e["whole"] == true).then_some(())
    });
    first
}

/// The carrier that cleared the session.
fn clearing_carrier(world: &World) -> Value {
    let acted = |e: &&Value| e["kind"] == "carrier-acted";
    logged(world).iter().find(acted).map_or(Value::Null, |e| e["method"].clone())
}

#[test]
fn a_chord_clears_and_another_starts_the_turn() {
    let world = world(&[]);
    with_chords(&world);
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    let first = arrived(&world, &tui);
    assert_eq!(clearing_carrier(&world), "chord");
    assert!(first.last_user_text().contains("/brain-guard:resume"), "{first}");
}

/// The client joins the contexts of its hooks in the order in which they end.
#[test]
fn long_notes_arrive_in_order_and_what_the_user_said_comes_last() {
    let mut agent = crossing();
    agent[2] = step(|_| {
        let entry = |n: usize| format!("- thread {n}: the parser fails on case {n} of the grammar");
        let entries: Vec<String> = (0..140).map(entry).collect();
        let command =
            format!("brain-guard append --kind next <<'EOF'\n{}\nEOF", entries.join("\n"));
        Reply::bash(&command).tokens(percent(31.1))
    });
    agent.insert(5, step(|_| Reply::text("Understood.").tokens(percent(31.4))));
    let settings =
        settings(&[("attended_notice_seconds", json!(5)), ("attended_minutes", json!(9))]);
    let world = World::build().without_mod().in_tmux().guard_settings(settings);
    let world = world.agent(moves(agent)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    tui.wait_screen("the notice", |screen| screen.contains("restarts from its notes in"));
    tui.prompt("never touch the vendor folder");
    let first = world.mock.wait_main(7);
    assert_ne!(first.session, world.mock.main()[0].session);
    let all = first.body["messages"].to_string();
    let at = |what: &str| all.find(what).unwrap_or_else(|| panic!("no {what:?}: {first}"));
    let order = ["part 1 of 2", "thread 139:", "> never touch the vendor folder"].map(at);
    assert!(order.is_sorted(), "{order:?}: {first}");
    assert!(at("thread 3:") < at("part 2 of 2"), "{first}");
    world.mock.wait_main(8);
    tui.wait_idle();
}

#[test]
fn a_draft_stays_in_the_box() {
    let world = world(&[]);
    with_chords(&world);
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    world.mock.wait_main(2);
    tui.type_text("half a thought");
    arrived(&world, &tui);
    assert_eq!(tui.prompt_box().as_deref(), Some("half a thought"));
}

#[test]
fn without_chords_clear_is_typed_and_the_hook_starts_the_turn() {
    let world = world(&[]);
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    world.mock.wait_main(2);
    tui.type_text("/cle half a thought");
    let first = arrived(&world, &tui);
    assert_eq!(clearing_carrier(&world), "typed");
    assert!(first.last_user_text().contains("Continue with the first item under Forward State"));
    let kept = tui.wait_screen("the draft", |_| tui.prompt_box().is_some_and(|b| !b.is_empty()));
    assert_eq!(tui.prompt_box().as_deref(), Some("/cle half a thought"), "{kept}");
}

#[test]
fn the_oldest_client_is_cleared_by_the_pane() {
    let world = World::build().client(OLDEST).without_mod().in_tmux();
    let world = world.guard_settings(settings(&[])).agent(moves(crossing())).start();
    with_chords(&world);
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    arrived(&world, &tui);
}

#[test]
fn a_prompt_cancels_the_notice_and_the_next_turns_end_offers_it_again() {
    let mut agent = crossing();
    agent.insert(5, step(|_| Reply::text("answered").tokens(percent(31.4))));
    let more = [("attended_minutes", json!(10)), ("attended_notice_seconds", json!(4))];
    let world = World::build().without_mod().in_tmux().guard_settings(settings(&more));
    let world = world.agent(moves(agent)).start();
    with_chords(&world);
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    world.mock.wait_main(5);
    tui.wait_screen("the notice", |screen| screen.contains("restarts from its notes in"));
    tui.wait_idle();
    tui.prompt("What is left?");
    let answer = world.mock.wait_main(6);
    assert_eq!(answer.session, world.mock.main()[0].session, "the same session");
    let first = world.mock.wait_main(7);
    assert_ne!(first.session, answer.session, "a fresh session");
    let waited = first.at.saturating_sub(answer.at);
    assert!(waited.as_secs() >= 4, "the notice ran anew: {waited:?}");
}

#[test]
fn the_pane_takes_over_from_a_module_that_hangs_before_its_clear() {
    takes_over("await new Promise(() => {})");
}

#[test]
fn the_pane_takes_over_from_a_module_whose_clear_fails() {
    takes_over("throw new Error('broken here')");
}

/// Checks a boundary whose module runs this code instead of its clear.
fn takes_over(code: &str) {
    let more = [("step_seconds", json!(2)), ("agents_wait_seconds", json!(0))];
    let world = World::build().in_tmux().guard_settings(settings(&more));
    let world = world.agent(moves(crossing())).start();
    with_chords(&world);
    let path = world.plugin("brain-guard").join("hooks/brain-guard.tsx");
    let text = std::fs::read_to_string(&path).expect("the module");
    let clear = "await $.command.run({ command: command(action) })";
    assert_eq!(text.matches(clear).count(), 1, "the module clears in one place");
    std::fs::write(&path, text.replace(clear, code)).expect("own file");
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    let first = world.mock.wait_main(6);
    assert_ne!(first.session, world.mock.main()[0].session, "a fresh session");
    let file = sealed(&world).pop().expect("a sealed file");
    assert_eq!(said(&first, &file), 1, "{first}");
    world.mock.wait_main(7);
    wait_acknowledged(&world);
    assert_eq!(clearing_carrier(&world), "chord");
}

#[test]
fn a_status_says_what_the_boundary_waits_for() {
    let world = world(&[]);
    with_chords(&world);
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    world.mock.wait_main(4);
    let Terminal::Tmux(pane) = tui.terminal() else { panic!("the client is in a pane") };
    pane.run(&["copy-mode", "-t", "{}"]).expect("tmux answers");
    world.wait("word of copy mode", || {
        let status = status(&world)["boundary"]["waits"].take();
        status.as_str().is_some_and(|why| why.contains("copy mode")).then_some(())
    });
    assert_eq!(world.mock.main().len(), 5, "nothing was sent");
    pane.run(&["send-keys", "-t", "{}", "-X", "cancel"]).expect("tmux answers");
    arrived(&world, &tui);
}
