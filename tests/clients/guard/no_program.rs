//! The plugin from a plain checkout, without a built program.

use crate::support::mock::Reply;
use crate::support::world::World;

#[test]
fn a_session_without_the_program_gets_one_message_and_no_errors() {
    let world = World::build()
        .bare()
        .agent(|request| match request.n {
            1 => Reply::bash("echo one"),
            _ => Reply::text("That was all."),
        })
        .start();
    let tui = world.tui(&["--plugin-dir", env!("CARGO_MANIFEST_DIR")]);
    tui.wait_screen("what to do", |s| s.contains("has no program for this machine"));
    tui.prompt("Build the parser");
    world.mock.wait_main(2);
    tui.wait_screen("the turn's end", |s| s.contains("That was all."));
    tui.wait_idle();
    tui.prompt("/brain-guard:status");
    tui.wait_idle();
    let screen = tui.screen();
    assert!(!screen.contains("hook failed") && !screen.contains("hook error"), "{screen}");
    assert_eq!(world.mock.main().len(), 2, "the command is not sent as a prompt: {screen}");
}
