//! After a `/clear` by the user, the new session gets the path of the compaction file, never its
//! content.

use super::story::{append, said, watched};
use super::{Move, moves, percent, step, told};
use crate::support::mock::Reply;
use crate::support::world::World;

const ENTRY: &str = "the lexer drops the last token";

fn cleared(script: Vec<Move>) {
    let count = script.len();
    let mut all = script;
    all.push(step(|_| Reply::text("fresh").tokens(percent(5.0))));
    let world = World::build().guard_settings(watched()).agent(moves(all)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    world.mock.wait_main(count);
    tui.wait_screen("the turn's end", |s| s.contains("the turn ends"));
    tui.wait_idle();
    let job = super::story::status(&world);
    let path = job["file"]["path"].as_str().expect("a path");
    assert!(std::fs::read_to_string(path).expect("the file").contains(ENTRY));
    tui.prompt("/clear");
    tui.wait_screen("an empty conversation", |s| !s.contains("the turn ends"));
    tui.wait_idle();
    assert_eq!(world.mock.main().len(), count, "nothing starts by itself");
    tui.prompt("What now?");
    let first = world.mock.wait_main(count + 1);
    assert_ne!(first.session, world.mock.main()[0].session);
    assert_eq!(told(&first, path), 1, "the path, once");
    assert_eq!(told(&first, "your user cleared the conversation"), 1);
    assert_eq!((said(&first, ENTRY), said(&first, "compaction file v")), (0, 0), "never the file");
    tui.wait_idle();
    assert_eq!(super::story::status(&world)["boundary"], serde_json::Value::Null);
}

#[test]
fn a_typed_clear_without_a_seal_delivers_no_file() {
    cleared(vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| append("next", ENTRY).tokens(percent(31.0))),
        step(|_| Reply::text("no").tokens(percent(31.1))),
        step(|_| Reply::text("no").tokens(percent(31.1))),
        step(|_| Reply::text("the turn ends").tokens(percent(31.1))),
    ]);
}
