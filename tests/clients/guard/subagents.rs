//! Background subagents of a session that is restricted.

use std::time::Duration;

use serde_json::json;

use super::{append, asked, deliveries, moves, percent, result, step};
use crate::support::mock::{Gate, Kind, Reply};
use crate::support::world::World;

/// The gates of a scenario. The subagent reads once the main session is at `narrow`, and ends
/// when the test opens the last gate.
#[derive(Clone, Default)]
struct Doors {
    narrowed: Gate,
    read: Gate,
    end: Gate,
}

/// A session that starts a subagent, reaches `narrow`, and seals while the subagent runs.
fn world(doors: &Doors, agents_wait_seconds: u64) -> World {
    let agent_call = || json!({"description": "look around", "prompt": "read it all", "subagent_type": "general-purpose"});
    let (at, main) = (Duration::from_secs(20), doors.clone());
    let agent = moves(vec![
        step(move |_| Reply::tool("Agent", agent_call()).tokens(percent(5.0))),
        step(move |_| {
            Reply::bash("ls").and_tool_id("dispatch", "Agent", agent_call()).tokens(percent(31.0))
        }),
        step(move |r| {
            let (text, error) = result(r, "dispatch");
            assert!(error && text.contains("blocked Agent"), "{text}");
            main.narrowed.open();
            assert!(main.read.wait(at), "the subagent reads meanwhile");
            append("directive", "write the lexer next").tokens(percent(31.1))
        }),
        step(|_| Reply::bash("brain-guard seal").tokens(percent(31.2))),
        step(|_| Reply::text("I end my turn.").tokens(percent(31.3))),
    ]);
    let mut agent = agent;
    let agent = move |r: &crate::support::mock::Request| {
        // After the boundary, or notified of the subagent's end before it.
        match (r.n, deliveries(r)) {
            (..=5, _) => agent(r),
            (_, 0) => Reply::text("I have read it.").tokens(percent(31.4)),
            _ => Reply::text("going on").tokens(percent(6.0)),
        }
    };
    let sub = doors.clone();
    let subagent = moves(vec![
        step(move |_| {
            assert!(sub.narrowed.wait(at), "the main loop is narrowed");
            Reply::tool("Read", json!({"file_path": "other.txt"})).and_tool_id(
                "second",
                "Read",
                json!({"file_path": "README.md"}),
            )
        }),
        step({
            let sub = doors.clone();
            move |r| {
                let results = r.tool_results();
                assert!(results.len() == 2 && results.iter().all(|t| !t.is_error), "{results:?}");
                sub.read.open();
                Reply::text("I have\n\nread it all.\n").hang(&sub.end)
            }
        }),
    ]);
    let settings = json!({"boundary": {
        "attended_notice_seconds": 0, "min_interval_seconds": 0, "agents_wait_seconds": agents_wait_seconds,
    }});
    World::build()
        .guard_settings(settings)
        .file("other.txt", "other\n")
        .agent(agent)
        .subagent(subagent)
        .start()
}

#[test]
fn the_boundary_waits_for_a_subagent_but_not_for_ever() {
    let doors = Doors::default();
    let world = world(&doors, 6);
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    let end = world.mock.wait_main(5);
    tui.wait_screen("the wait", |screen| screen.contains("after 1 background agent"));
    let next = world.mock.wait_main(6);
    assert_ne!(next.session, end.session);
    assert_eq!(deliveries(&next), 1);
    assert!(
        next.at.saturating_sub(end.at) >= Duration::from_millis(1_500),
        "{:?} {:?}",
        end.at,
        next.at
    );
    assert_eq!(world.mock.with_log(|log| log.of(Kind::Subagent).count()), 2, "it still runs");
    tui.wait_screen("the answer", |screen| screen.contains("going on"));
    doors.end.open();
    let told =
        world.mock.wait_request("the subagent's report", |r| r.said("read it all.") && r.n > 6);
    assert_eq!(told.session, next.session, "its report belongs to the new session");
    assert_eq!(deliveries(&told), 1);
}

#[test]
fn the_end_of_the_subagent_ends_the_wait() {
    let doors = Doors::default();
    let world = world(&doors, 600);
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    let end = world.mock.wait_main(5);
    tui.wait_screen("the wait", |screen| screen.contains("after 1 background agent"));
    doors.end.open();
    let told = world.mock.wait_main(6);
    assert_eq!(told.session, end.session, "the report comes to the session that asked");
    assert!(told.said("read it all."), "{told}");
    let next = world.mock.wait_main(7);
    assert_ne!(next.session, end.session);
    assert_eq!(deliveries(&next), 1);
    tui.wait_screen("the answer", |screen| screen.contains("going on"));
    tui.wait_idle();
    assert_eq!(asked(&world, "status")["boundary"], json!(null));
}
