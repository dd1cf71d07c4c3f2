//! When the API does not answer a delivery, the guard asks again and does not deliver twice: the
//! notes are already in the conversation.

use serde_json::json;

use super::{asked, climb_and_seal, deliveries, moves, percent, step};
use crate::support::mock::Reply;
use crate::support::world::World;

const CONTINUE: &str = "brain-guard: the last prompt got no response.";

/// Each request of the new session fails with `status` until the `rounds`-th continue prompt. The
/// client itself retries only once.
fn unanswered(status: u16, rounds: usize) {
    let mut agent = climb_and_seal();
    agent.push(step(|_| Reply::text("I end my turn.").tokens(percent(31.2))));
    let mut before = moves(agent);
    let script = move |r: &crate::support::mock::Request| {
        if r.n <= 4 {
            return before(r);
        }
        assert_eq!(deliveries(r), 1, "the file is there once: {r}");
        let continues = r.user_texts().iter().filter(|t| t.contains(CONTINUE)).count();
        if continues < rounds {
            Reply::error(status)
        } else {
            Reply::text("here again").tokens(percent(6.0))
        }
    };
    let settings = json!({"boundary": {
        "attended_notice_seconds": 0, "min_interval_seconds": 0, "retry_seconds": [1, 1],
    }});
    let world = World::build()
        .guard_settings(settings)
        .env("CLAUDE_CODE_MAX_RETRIES", "1")
        .agent(script)
        .start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    let last = world.mock.wait_request("answered continue", |r| {
        r.user_texts().iter().filter(|t| t.contains(CONTINUE)).count() == rounds
    });
    let all = world.mock.main();
    let first = &all[4];
    assert!(
        !first.said(CONTINUE) && first.session == last.session && first.session != all[3].session
    );
    assert!(last.at.saturating_sub(first.at).as_secs() >= rounds as u64, "after the back-off");
    tui.wait_screen("the answer", |screen| screen.contains("here again"));
    tui.wait_idle();
    world.wait("end of the boundary", || {
        asked(&world, "status")["boundary"].is_null().then_some(())
    });
}

#[test]
fn an_overloaded_api_is_asked_again() {
    unanswered(529, 1);
}

#[test]
fn a_refused_request_is_asked_again() {
    unanswered(400, 2);
}

#[test]
fn a_broken_api_is_asked_again() {
    unanswered(500, 1);
}
