//! In the client's sandbox a command can write only in the project. That is enough for the verbs;
//! the hooks run outside and keep the state.

use super::story::{all_went, alone, append, end, patient, said, seal, sealed, wait_acknowledged};
use super::{moves, percent, step};
use crate::support::mock::Reply;
use crate::support::world::World;

#[test]
fn a_sandboxed_session_continues_after_its_boundary() {
    let agent = moves(vec![
        step(|_| Reply::bash("touch $XDG_STATE_HOME/x || echo refused").tokens(percent(5.0))),
        step(|r| {
            assert!(r.tool_results()[0].text.contains("refused"), "{:?}", r.tool_results());
            append("next", "the lexer drops the last token").tokens(percent(31.0))
        }),
        step(|r| {
            all_went(r);
            append("lesson", "read the grammar first").tokens(percent(31.1))
        }),
        seal(),
        end(),
        step(|_| Reply::bash("echo goes-on").tokens(percent(6.0))),
        step(|_| Reply::text("going on").tokens(percent(6.5))),
    ]);
    let world = World::build().sandbox().guard_settings(patient(alone())).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    let first = world.mock.wait_main(6);
    assert_ne!(first.session, world.mock.main()[0].session);
    let files = sealed(&world);
    assert_eq!((files.len(), said(&first, &files[0])), (1, 1));
    world.mock.wait_main(7);
    wait_acknowledged(&world);
}
