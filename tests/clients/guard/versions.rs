//! A complete boundary on the oldest client.

use super::story::{alone, patient};
use super::{Move, climb_and_seal, deliveries, moves, percent, step};
use crate::support::client;
use crate::support::mock::Reply;
use crate::support::world::World;

#[test]
fn the_module_clears_and_submits_in_the_oldest_client() {
    let mut agent: Vec<Move> = climb_and_seal();
    agent.push(step(|_| Reply::text("I end my turn.").tokens(percent(31.2))));
    agent.push(step(|r| {
        assert_eq!(deliveries(r), 1, "{r}");
        Reply::text("going on").tokens(percent(6.0))
    }));
    let world = World::build()
        .client(client::OLDEST)
        .guard_settings(patient(alone()))
        .agent(moves(agent))
        .start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    let last = world.mock.wait_main(5);
    assert_ne!(last.session, world.mock.main()[0].session);
    tui.wait_screen("the strip", |s| s.contains("context ") && s.contains("notes "));
}
