//! After `/model` in mid-session, the tiers follow the new model's limit.

use serde_json::json;

use super::story::{result, status, watched};
use super::{moves, step};
use crate::support::mock::Reply;
use crate::support::world::World;

#[test]
fn the_tiers_follow_the_model() {
    let write = || json!({"file_path": "new.txt", "content": "x"});
    let agent = moves(vec![
        step(|_| Reply::bash("echo one").tokens(40_000)),
        step(|_| Reply::text("the first turn ends").tokens(41_000)),
        step(move |_| Reply::bash("true").tokens(120_000).and_tool_id("write", "Write", write())),
        step(|r| {
            let (text, error) = result(r, "write");
            assert!(error && text.contains("of 167k)"), "{text}");
            Reply::text("stopped here").tokens(120_000)
        }),
    ]);
    let world = World::build().guard_settings(watched()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(2);
    tui.wait_screen("the turn's end", |s| s.contains("the first turn ends"));
    tui.wait_idle();
    assert_eq!(status(&world)["context"]["limit"], 967_000);
    tui.prompt("/model claude-sonnet-4-5-20250929");
    tui.wait_screen("the question", |s| s.contains("Yes, switch to"));
    tui.answer("Enter");
    tui.wait_screen("the switch", |s| s.contains("Set model to") || s.contains("model changed"));
    tui.wait_idle();
    tui.prompt("Go on");
    let last = world.mock.wait_main(4);
    assert_eq!(last.body["model"], "claude-sonnet-4-5-20250929");
    assert_eq!(status(&world)["context"]["limit"], 167_000);
}
