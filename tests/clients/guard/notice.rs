//! The user's options while a notice counts down.

use serde_json::json;

use super::listens::{continues, noticed};
use super::{Move, climb_and_seal, deliveries, moves, percent, step};
use crate::support::mock::{Gate, Reply};
use crate::support::world::World;

#[test]
fn the_notice_counts_down_above_the_prompt_box() {
    let (_world, tui) = noticed(60, vec![continues()]);
    for second in [58, 57, 56] {
        tui.wait_screen("the next second", |s| {
            s.contains(&format!("restarts from its notes in {second} s"))
        });
    }
}

#[test]
fn later_keeps_the_session_and_now_starts_at_once() {
    let (world, tui) = noticed(10, vec![continues()]);
    tui.prompt("/brain-guard:later 30m");
    tui.wait_screen("the answer", |s| s.contains("this session does not restart and"));
    tui.wait_screen("the strip", |s| {
        s.contains("This session does not restart: you paused brain-guard")
    });
    std::thread::sleep(std::time::Duration::from_secs(12));
    assert_eq!(world.mock.main().len(), 4, "it is kept past its notice");
    tui.prompt("/brain-guard:now");
    let last = world.mock.wait_main(5);
    assert_ne!(last.session, world.mock.main()[0].session);
}

#[test]
fn an_override_ends_the_notice_and_off_begins_a_new_one() {
    let (world, tui) = noticed(10, vec![continues()]);
    tui.prompt("/brain-guard:override 30m");
    tui.wait_screen("the strip", |s| {
        s.contains("This session does not restart: you paused brain-guard")
    });
    std::thread::sleep(std::time::Duration::from_secs(12));
    assert_eq!(world.mock.main().len(), 4, "it is kept past its notice");
    tui.prompt("/brain-guard:override --off");
    tui.wait_screen("a new notice", |s| s.contains("restarts from its notes in 9 s"));
    let last = world.mock.wait_main(5);
    assert_ne!(last.session, world.mock.main()[0].session);
}

/// The end of a background command starts a turn without a prompt from the user.
#[test]
fn after_escape_a_background_commands_end_starts_no_boundary() {
    let gate = Gate::default();
    let held = gate.clone();
    let mut agent: Vec<Move> = climb_and_seal();
    agent.insert(
        1,
        step(|_| {
            let command = "until [ -e go ]; do sleep 0.1; done";
            let input =
                json!({"command": command, "description": "wait", "run_in_background": true});
            Reply::tool("Bash", input).tokens(percent(5.0))
        }),
    );
    agent.push(step(move |_| Reply::text("I end\n\nmy turn.\n").hang(&held).tokens(percent(31.2))));
    agent.push(step(|_| Reply::text("It has ended.").tokens(percent(31.3))));
    agent.push(step(|_| Reply::text("I go on.").tokens(percent(31.4))));
    agent.push(step(|r| {
        assert_eq!(deliveries(r), 1, "{r}");
        Reply::text("going on").tokens(percent(6.0))
    }));
    let boundary = json!({"attended_notice_seconds": 2, "min_interval_seconds": 0});
    let settings = json!({"boundary": boundary});
    let world = World::build().guard_settings(settings).agent(moves(agent)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    tui.wait_screen("half answer", |s| s.contains("I end"));
    tui.keys("Escape");
    tui.wait_screen("interruption", |s| s.contains("Interrupted"));
    gate.open();
    std::fs::write(world.project().join("go"), "").expect("the project is writable");
    tui.wait_screen("the turn of the command's end", |s| s.contains("It has ended."));
    std::thread::sleep(std::time::Duration::from_secs(5));
    assert_eq!(world.mock.main().len(), 6, "the person has the word");
    tui.prompt("Go on");
    let last = world.mock.wait_main(8);
    assert_ne!(last.session, world.mock.main()[0].session);
}
