//! The fresh session's first turn, started through the pane, gets no answer.

use serde_json::json;

use super::step;
use super::story::{end, note, seal, wait_acknowledged, with_chords};
use super::tmux::settings;
use super::{moves, percent};
use crate::support::mock::{Gate, Reply, Request};
use crate::support::world::World;

const RESUME: &str = "<command-name>/brain-guard:resume";

fn world(mut first: impl FnMut(&Request) -> Reply + Send + 'static) -> World {
    let script = vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| Reply::bash("echo two").tokens(percent(31.0))),
        note("the lexer drops the last token"),
        seal(),
        end(),
    ];
    let mut before = moves(script);
    let script = move |r: &Request| if r.n <= 5 { before(r) } else { first(r) };
    let settings = settings(&[("retry_seconds", json!([1, 1, 1]))]);
    let world = World::build().without_mod().in_tmux().guard_settings(settings);
    world.env("CLAUDE_CODE_MAX_RETRIES", "1").agent(script).start()
}

#[test]
fn a_refused_request_is_asked_again_by_the_chord() {
    let asked = |r: &Request| r.user_texts().iter().filter(|t| t.contains(RESUME)).count();
    let world = world(move |r| match asked(r) {
        0..=2 => Reply::error(529),
        _ => Reply::text("here again").tokens(percent(6.0)),
    });
    with_chords(&world);
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    tui.wait_screen("the answer", |screen| screen.contains("here again"));
    wait_acknowledged(&world);
}

#[test]
fn an_interrupted_first_turn_is_not_asked_again() {
    let gate = Gate::default();
    let held = gate.clone();
    let world = world(move |_| Reply::text("begun\n\nnever ended\n").hang(&held));
    with_chords(&world);
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    world.mock.wait_main(6);
    tui.wait_screen("half answer", |screen| screen.contains("begun"));
    tui.keys("Escape");
    tui.wait_screen("interruption", |screen| screen.contains("Interrupted"));
    gate.open();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(5);
    while std::time::Instant::now() < until {
        assert_eq!(world.mock.main().len(), 6, "the user has the word");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}
