//! The module fails between its clear and its submit. The hooks then deliver the file once, with
//! the prompt that the rewake starts.

use serde_json::Value;

use super::story::{alone, end, logged, note, said, seal, sealed, wait_acknowledged};
use super::{moves, percent, step};
use crate::support::mock::Reply;
use crate::support::world::World;

/// Inserts `code` after the module's clear.
fn break_after_clear(world: &World, code: &str) {
    let path = world.plugin("brain-guard").join("hooks/brain-guard.tsx");
    let text = std::fs::read_to_string(&path).expect("the module");
    let clear = "await $.command.run({ command: command(action) })\n";
    assert_eq!(text.matches(clear).count(), 1, "the module clears in one place");
    std::fs::write(&path, text.replace(clear, &format!("{clear}{code}\n"))).expect("own file");
}

fn the_hooks_deliver_once(code: &str) {
    let world = World::build().guard_settings(alone());
    let agent = moves(vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| Reply::bash("echo two").tokens(percent(31.0))),
        note("the lexer drops the last token"),
        seal(),
        end(),
        step(|_| Reply::bash("echo goes-on").tokens(percent(6.0))),
        step(|_| Reply::text("going on").tokens(percent(6.5))),
    ]);
    let world = world.agent(agent).start();
    break_after_clear(&world, code);
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    let first = world.mock.wait_main(6);
    assert_ne!(first.session, world.mock.main()[0].session, "a fresh session");
    let files = sealed(&world);
    assert_eq!(files.len(), 1);
    assert_eq!(said(&first, &files[0]), 1, "the sealed file, whole, once: {first}");
    assert!(first.last_user_text().contains("Continue with the first item under Forward State"));
    let second = world.mock.wait_main(7);
    assert_eq!(second.tool_results()[0].text, "goes-on");
    assert_eq!(said(&second, &files[0]), 1);
    wait_acknowledged(&world);
    tui.wait_idle();
    assert_eq!(world.mock.main().len(), 7, "one turn, not two");
    let delivered = logged(&world).into_iter().filter(|e| e["step"] == "delivered");
    assert_eq!(delivered.collect::<Vec<Value>>().len(), 1);
}

#[test]
fn hooks_deliver_when_the_module_throws_after_its_clear() {
    the_hooks_deliver_once("throw new Error('broken here')");
}

#[test]
fn hooks_deliver_when_the_module_hangs_after_its_clear() {
    the_hooks_deliver_once("await new Promise(() => {})");
}
