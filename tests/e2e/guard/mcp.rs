//! The tools in the real client: offered where the plugin says so, called by the agent, about
//! the session that the client is in, and no way round the guard.

use serde_json::{Value, json};

use super::story::{result, watched};
use super::{Move, moves, percent, step};
use crate::mock::{Reply, Request};
use crate::world::World;

const SERVER: &str = "mcp__plugin_brain-guard_brain-guard__";

fn tool(name: &str) -> String {
    format!("{SERVER}{name}")
}

/// Loads the tools, which the client does on demand.
fn load() -> Move {
    step(|_| {
        let query = format!("select:{},{}", tool("purge_control"), tool("inject"));
        Reply::tool("ToolSearch", json!({ "query": query })).tokens(percent(5.0))
    })
}

/// A call whose result is looked for by this id.
fn call(id: &'static str, name: &str, arguments: Value) -> Reply {
    Reply::text("I ask").and_tool_id(id, &tool(name), arguments)
}

/// The texts of a result that is no error.
#[track_caller]
fn told(request: &Request, id: &str) -> String {
    let (text, is_error) = result(request, id);
    assert!(!is_error, "{id}: {text}");
    text
}

#[test]
fn the_tools_are_about_the_session_that_the_client_is_in() {
    let agent = moves(vec![
        load(),
        step(|_| call("first", "inject", json!({ "ref": "1" })).tokens(percent(5.1))),
        step(|r| {
            let page = told(r, "first");
            assert!(page.contains("Look at the lexer"), "{page}");
            assert!(page.contains(r.session.as_deref().expect("a session")), "{page}");
            Reply::text("read it").tokens(percent(5.2))
        }),
        load(),
        // The first round is the `/clear`.
        step(|_| call("second", "inject", json!({ "ref": 2 })).tokens(percent(5.1))),
        step(|r| {
            let page = told(r, "second");
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
fn at_narrow_what_is_kept_of_the_context_is_asked_for_and_nothing_is_read() {
    let agent = moves(vec![
        load(),
        // Without the module the gauge may be one response behind.
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
fn nothing_is_offered_where_the_plugin_does_not_say_so() {
    let world = World::build().agent(|_| Reply::text("done")).start();
    let output = world.print(&[], "Go").finish();
    assert!(output.status.success(), "{output:?}");
    assert!(world.mock.main().iter().all(|request| !request.contains("purge_control")));
}

/// What the first command printed, by which the session is known to hold it.
const LAST: &str = "line 400 of the log";

#[test]
fn what_was_extracted_comes_back_as_the_result_of_the_call() {
    let agent = moves(vec![
        step(|_| {
            Reply::bash("for i in $(seq 400); do echo \"line $i of the log\"; done").tokens(21_000)
        }),
        step(|_| Reply::bash("echo two").tokens(22_000)),
        step(|_| Reply::bash("echo three").tokens(23_000)),
        step(|_| Reply::text("played").tokens(24_000)),
        // The session that was made of it.
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
            let context: Value = serde_json::from_str(&told(r, "context")).expect("JSON");
            let entry = &context["extracted"][0]["entry_id"];
            assert!(entry.is_string(), "{context}");
            call("back", "purge_control", json!({ "action": "restore", "entry_id": entry }))
        }),
        step(|r| {
            let text = told(r, "back");
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
