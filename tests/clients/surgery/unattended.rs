//! A day without a person: the agent works, shortens its session, works, seals, goes on after the
//! boundary, and shortens that session, too. Nothing is delivered twice, and no tier is held that the
//! shorter context does not reach.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::guard::{Move, append, deliveries, moves, only_result, percent, step, unattended};
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

const NOTES: [&str; 2] = ["write the lexer next", "write the parser next"];
const LONG: &str = "for i in $(seq 1 200); do echo \"line $i of the log\"; done";

fn went_well(request: &Request) {
    let (text, is_error) = only_result(request);
    assert!(!is_error, "{text}");
}

/// A round in which the agent reads something long.
fn reads() -> [Move; 2] {
    [
        step(|_| Reply::bash(LONG).tokens(percent(5.0))),
        step(|_| Reply::text("I have read it.").tokens(percent(5.2))),
    ]
}

/// Asks for surgery at three quarters of `narrow`, and ends the turn.
fn shortens(command: &'static str) -> [Move; 2] {
    [
        step(move |_| Reply::bash(command).tokens(percent(23.0))),
        step(|r| {
            let (text, is_error) = only_result(r);
            assert!(!is_error && text.contains("It is done when your turn ends"), "{text}");
            Reply::text("I end my turn.").tokens(percent(23.1))
        }),
    ]
}

/// The first request of a shortened session. A tier of the context before would deny the call.
fn goes_on(notes: usize) -> Move {
    step(move |r| {
        assert!(r.prompt().contains("this session was shortened"), "{r}");
        assert_eq!(deliveries(r), notes, "{r}");
        assert!(!r.said("line 150 of the log"), "{r}");
        Reply::tool("Read", json!({"file_path": "README.md"})).tokens(percent(8.0))
    })
}

/// Climbs to the top tier and seals.
fn seals(note: &'static str) -> [Move; 3] {
    [
        step(move |r| {
            went_well(r);
            append("next", note).tokens(percent(31.0))
        }),
        step(|r| {
            went_well(r);
            Reply::bash("brain-guard seal").tokens(percent(31.1))
        }),
        step(|_| Reply::text("I end my turn.").tokens(percent(31.2))),
    ]
}

/// The first request after a boundary.
fn delivered(note: &'static str, reply: fn() -> Reply) -> Move {
    step(move |r| {
        assert!(deliveries(r) == 1 && r.contains(note), "{r}");
        reply().tokens(percent(6.0))
    })
}

#[test]
fn an_agent_alone_shortens_its_sessions_before_and_after_a_boundary() {
    let mut script: Vec<Move> = Vec::new();
    script.extend(reads());
    script.extend(reads());
    script.push(step(|_| Reply::bash("echo begin").tokens(percent(10.0))));
    script.extend(shortens("brain-guard surgery compress-before this round:3 --here"));
    script.push(goes_on(0));
    script.extend(seals(NOTES[0]));
    script.push(delivered(NOTES[0], || Reply::bash(LONG)));
    script.push(step(|_| Reply::bash("echo further").tokens(percent(6.5))));
    script.extend(shortens("brain-guard extract run this --keep-recent 1 --min-length 40 --here"));
    script.push(goes_on(1));
    script.extend(seals(NOTES[1]));
    script.push(delivered(NOTES[1], || Reply::text("All is done.")));
    let requests = script.len();
    let mut settings: Value = unattended();
    settings["surgery"] = json!({"agent": "on"});
    let world = World::build().guard_settings(settings).agent(moves(script)).start();
    let tui = world.tui(&[]);
    for (nth, prompt) in ["Read it", "Read it again", "Build the parser"].iter().enumerate() {
        tui.prompt(prompt);
        world.mock.wait_main(2 * (nth + 1));
        if nth < 2 {
            tui.wait_idle();
        }
    }
    world.mock.wait_main_within(requests, std::time::Duration::from_secs(120));
    tui.wait_screen("the end", |screen| screen.contains("All is done."));
    let main = world.mock.main();
    let sessions: BTreeSet<_> = main.iter().map(|request| request.session.clone()).collect();
    assert_eq!((main.len(), sessions.len()), (requests, 5));
    tui.quit();
}
