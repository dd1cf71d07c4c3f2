//! The MCP tools in the real client. The plugin decides whether they are offered. They work on the
//! client's current session and do not bypass the guard.

use serde_json::{Value, json};

use super::story::{result, watched};
use super::{Move, moves, percent, step};
use crate::mock::{Reply, Request};
use crate::world::World;

const SERVER: &str = "mcp__plugin_brain-guard_brain-guard__";

fn tool(name: &str) -> String {
    format!("{SERVER}{name}")
}

/// Loads the tools; the client loads them on demand.
fn load() -> Move {
    step(|_| {
        let query = format!("select:{},{}", tool("purge_control"), tool("inject"));
        Reply::tool("ToolSearch", json!({ "query": query })).tokens(percent(5.0))
    })
}

/// A call with this id, by which the tests find its result.
fn call(id: &'static str, name: &str, arguments: Value) -> Reply {
    Reply::text("I ask").and_tool_id(id, &tool(name), arguments)
}

/// The text of a successful result.
#[track_caller]
fn ok_text(request: &Request, id: &str) -> String {
    let (text, is_error) = result(request, id);
    assert!(!is_error, "{id}: {text}");
    text
}

#[test]
fn the_tools_use_the_current_session() {
    let agent = moves(vec![
        load(),
        step(|_| call("first", "inject", json!({ "ref": "1" })).tokens(percent(5.1))),
        step(|r| {
            let page = ok_text(r, "first");
            assert!(page.contains("Look at the lexer"), "{page}");
            assert!(page.contains(r.session.as_deref().expect("a session")), "{page}");
            Reply::text("read it").tokens(percent(5.2))
        }),
        load(),
        // The echo of `/clear` is part of the first round.
        step(|_| call("second", "inject", json!({ "ref": 1 })).tokens(percent(5.1))),
        step(|r| {
            let page = ok_text(r, "second");
            assert!(page.contains("Look at the parser"), "{page}");
            assert!(page.contains(r.session.as_deref().expect("a session")), "{page}");
            Reply::text("read that").tokens(percent(5.2))
        }),
    ]);
    let world = World::build().tools().guard_settings(watched()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Look at the lexer");
    tui.wait_screen("the turn's end", |s| s.contains("read it"));
    tui.wait_idle();
    tui.prompt("/clear");
    tui.wait_screen("an empty conversation", |s| !s.contains("read it"));
    tui.wait_idle();
    tui.prompt("Look at the parser");
    tui.wait_screen("the turn's end", |s| s.contains("read that"));
    let main = world.mock.main();
    assert_ne!(main[0].session, main[5].session);
}

#[test]
fn at_narrow_the_context_can_be_queried_but_nothing_read() {
    let agent = moves(vec![
        load(),
        // Without the module, the known context usage can be one response old.
        step(|_| Reply::bash("echo two").tokens(percent(31.0))),
        step(|_| {
            call("context", "purge_control", json!({ "action": "get_context" }))
                .and_tool_id("round", &tool("inject"), json!({ "ref": 1 }))
                .tokens(percent(31.1))
        }),
        step(|r| {
            let (text, _) = result(r, "context");
            assert!(!text.contains("is blocked"), "{text}");
            let (text, is_error) = result(r, "round");
            assert!(is_error && text.contains("is blocked"), "{text}");
            Reply::bash("brain-guard append --kind directive 'next: the lexer'")
                .tokens(percent(31.2))
        }),
        step(|_| Reply::bash("brain-guard seal --no-clear").tokens(percent(31.3))),
        step(|_| Reply::text("asked for it").tokens(percent(31.3))),
    ]);
    let world = World::build().tools().guard_settings(watched()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    tui.wait_screen("the turn's end", |s| s.contains("asked for it"));
}

#[test]
fn tools_are_not_offered_without_the_setting() {
    let world = World::build().agent(|_| Reply::text("done")).start();
    let output = world.print(&[], "Go").finish();
    assert!(output.status.success(), "{output:?}");
    assert!(world.mock.main().iter().all(|request| !request.contains("purge_control")));
}

/// A line from the first command's output; a session with it has the whole output.
const LAST: &str = "line 400 of the log";

#[test]
fn restore_returns_the_extracted_value() {
    let agent = moves(vec![
        step(|_| {
            Reply::bash("for i in $(seq 400); do echo \"line $i of the log\"; done").tokens(21_000)
        }),
        step(|_| Reply::bash("echo two").tokens(22_000)),
        step(|_| Reply::bash("echo three").tokens(23_000)),
        step(|_| Reply::text("played").tokens(24_000)),
        // The successor.
        step(|r| {
            let held = r.messages().iter().map(Value::to_string).collect::<String>();
            assert!(!held.contains("line 200 of the log"), "{held}");
            assert!(held.contains("[[extracted-"), "{held}");
            Reply::tool(
                "ToolSearch",
                json!({ "query": format!("select:{}", tool("purge_control")) }),
            )
        }),
        step(|_| call("context", "purge_control", json!({ "action": "get_context" }))),
        step(|r| {
            let context: Value = serde_json::from_str(&ok_text(r, "context")).expect("JSON");
            let entry = &context["extracted"][0]["entry_id"];
            assert!(entry.is_string(), "{context}");
            call("back", "purge_control", json!({ "action": "restore", "entry_id": entry }))
        }),
        step(|r| {
            let text = ok_text(r, "back");
            assert!(text.starts_with("{\"restored\":true"), "{text}");
            assert!(
                text.contains("line 1 of the log\nline 2 of the log") && text.contains(LAST),
                "{text}"
            );
            Reply::text("it is back")
        }),
    ]);
    let world = World::build().tools().agent(agent).start();
    let output = world.print(&[], "Look at the log").finish();
    assert!(output.status.success(), "{output:?}");
    let path = world.transcripts().pop().expect("a transcript");
    let id = path.file_stem().and_then(|stem| stem.to_str()).expect("an id");
    let made = world.guard(&["extract", "run", id, "--json"]);
    assert!(made.status.success(), "{made:?}");
    let made: Value =
        serde_json::from_str(&made.stdout).unwrap_or_else(|e| panic!("{e}: {made:?}"));
    let new = made["id"].as_str().unwrap_or_else(|| panic!("no id in {made}"));
    let output = world.print(&["--resume", new], "What was in it?").finish();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(world.mock.main().len(), 8);
}
