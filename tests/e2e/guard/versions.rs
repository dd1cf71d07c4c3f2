//! A complete boundary on each of the other client versions.

use super::story::{alone, patient};
use super::{Move, climb_and_seal, deliveries, moves, percent, step};
use crate::client;
use crate::mock::Reply;
use crate::world::World;

/// The last version without modules; the tests in `tmux` cover it.
pub const WITHOUT_MODULES: &str = "2.1.250";

#[test]
fn the_module_clears_and_submits() {
    for version in client::others().filter(|version| *version != WITHOUT_MODULES) {
        let mut agent: Vec<Move> = climb_and_seal();
        agent.push(step(|_| Reply::text("I end my turn.").tokens(percent(31.2))));
        agent.push(step(|r| {
            assert_eq!(deliveries(r), 1, "{r}");
            Reply::text("going on").tokens(percent(6.0))
        }));
        let world = World::build()
            .client(version)
            .guard_settings(patient(alone()))
            .agent(moves(agent))
            .start();
        let tui = world.tui(&[]);
        tui.prompt("Build the parser");
        let last = world.mock.wait_main(5);
        assert_ne!(last.session, world.mock.main()[0].session, "{version}");
        tui.wait_screen("the strip", |s| s.contains("context ") && s.contains("notes "));
    }
}
