//! The client compacts anyway. The guard archives the live file, delivers it to the session
//! again, and restarts its figures.

use serde_json::json;

use super::story::{all_went, append, logged, said, status, watched};
use super::{moves, step, told};
use crate::support::mock::{Kind, Reply};
use crate::support::world::World;

const ENTRY: &str = "the lexer drops the last token";

#[test]
fn the_file_outlives_the_clients_own_compaction() {
    let agent = moves(vec![
        step(|_| Reply::bash("echo one").tokens(8_000)),
        step(|_| append("next", ENTRY).tokens(85_000)),
        // Above the client's threshold, so it compacts before the next request.
        step(|_| Reply::bash("echo two").tokens(175_000)),
        step(|r| {
            assert!(r.said("side answer"), "the client's summary");
            assert_eq!(told(r, "the client compacted this conversation"), 1);
            assert_eq!(said(r, ENTRY), 1, "the file, once");
            Reply::bash("echo three")
                .tokens(12_000)
                .and_tool("Read", json!({"file_path": "README.md"}))
        }),
        step(|r| {
            all_went(r);
            assert_eq!(told(r, "stance"), 0, "no old figure");
            Reply::text("going on").tokens(13_000)
        }),
    ]);
    let world = World::build().env("CLAUDE_CODE_DISABLE_1M_CONTEXT", "1");
    let world = world.guard_settings(watched()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    let last = world.mock.wait_main(5);
    assert_eq!(last.session, world.mock.main()[0].session);
    assert_eq!(world.mock.with_log(|log| log.of(Kind::Side).count()), 1);
    tui.wait_screen("the turn's end", |s| s.contains("going on"));
    tui.wait_idle();
    assert_eq!(world.mock.main().len(), 5, "the turn may end");
    let status = status(&world);
    assert_eq!(
        (&status["stance"], &status["boundary"]),
        (&json!("free"), &json!(null)),
        "{status}"
    );
    assert_eq!(status["context"]["used"], 13_050);
    let live = status["file"]["path"].as_str().expect("a path");
    assert!(std::fs::read_to_string(live).expect("the notes").contains(ENTRY));
    assert!(logged(&world).iter().any(|e| e["kind"] == "client-compaction"));
}
