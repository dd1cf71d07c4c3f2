//! The agent's tools in the real client. The module offers them if the settings say so. They work on
//! the client's current session and do not bypass the guard.

use serde_json::{Value, json};

use super::story::{result, watched};
use super::{Move, moves, percent, step};
use crate::support::client;
use crate::support::mock::{Gate, Kind, Reply, Request};
use crate::support::process::DEADLINE;
use crate::support::world::{Spy, World};

fn tool(name: &str) -> String {
    format!("mcp__brain-guard__{name}")
}

/// Settings that offer the tools.
fn offered() -> Value {
    let mut settings = watched();
    settings["extract"] = json!({"mcp": true});
    settings
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
    let world = World::build().guard_settings(offered()).agent(agent).start();
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

/// Calls `purge_control` and `inject` with these ids.
fn call_both([context, round]: [&'static str; 2]) -> Reply {
    call(context, "purge_control", json!({ "action": "get_context" })).and_tool_id(
        round,
        &tool("inject"),
        json!({ "ref": 1 }),
    )
}

/// Asserts that the guard denied the second of them only.
#[track_caller]
fn inject_is_denied(request: &Request, [context, round]: [&str; 2]) {
    let context: Value = serde_json::from_str(&ok_text(request, context)).expect("JSON");
    assert!(context["extracted"].is_array(), "{context}");
    let (text, is_error) = result(request, round);
    assert!(is_error && text.contains("inject: the context is"), "{text}");
}

#[test]
fn from_block_reads_on_the_context_can_be_queried_but_nothing_read() {
    let (block_reads, narrow) = (["context-1", "round-1"], ["context-2", "round-2"]);
    let agent = moves(vec![
        load(),
        step(|_| Reply::bash("echo two").tokens(percent(26.0))),
        step(move |_| call_both(block_reads).tokens(percent(26.1))),
        step(move |r| {
            inject_is_denied(r, block_reads);
            Reply::bash("echo three").tokens(percent(31.0))
        }),
        step(move |_| call_both(narrow).tokens(percent(31.1))),
        step(move |r| {
            inject_is_denied(r, narrow);
            Reply::bash("brain-guard append --kind directive 'next: the lexer'")
                .tokens(percent(31.2))
        }),
        step(|_| Reply::bash("brain-guard seal --no-clear").tokens(percent(31.3))),
        step(|_| Reply::text("asked for it").tokens(percent(31.3))),
    ]);
    let world = World::build().spy(Spy::default()).permission_mode("default");
    let world = world.guard_settings(offered()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    tui.wait_screen("the turn's end", |s| s.contains("asked for it"));
    let hooks = world.hooks();
    let of_tools = |event: &str| {
        let is_ours = |hook: &&Value| {
            let tool = hook["tool_name"].as_str().unwrap_or_default();
            hook["hook_event_name"] == event && tool.starts_with("mcp__brain-guard__")
        };
        hooks.iter().filter(is_ours).count()
    };
    assert_eq!(["PreToolUse", "PermissionRequest"].map(of_tools), [0, 0]);
}

#[test]
fn a_subagent_reads_rounds_while_the_main_loop_may_not() {
    let narrowed = Gate::default();
    let main = narrowed.clone();
    let agent_call = json!({"description": "look around", "prompt": "read it all", "subagent_type": "general-purpose"});
    let agent = moves(vec![
        step(move |_| Reply::tool("Agent", agent_call.clone()).tokens(percent(5.0))),
        step(|_| Reply::tool("Read", json!({"file_path": "README.md"})).tokens(percent(31.0))),
        step(move |r| {
            assert!(r.tool_results().iter().all(|result| result.is_error), "{r}");
            main.open();
            Reply::bash("brain-guard append --kind directive 'next: the lexer'")
                .tokens(percent(31.1))
        }),
        step(|_| Reply::bash("brain-guard seal --no-clear").tokens(percent(31.2))),
        step(|_| Reply::text("asked for it").tokens(percent(31.3))),
    ]);
    let subagent = moves(vec![
        step(move |_| {
            assert!(narrowed.wait(DEADLINE), "the main loop is narrowed");
            Reply::tool("ToolSearch", json!({ "query": format!("select:{}", tool("inject")) }))
        }),
        step(|_| call("page", "inject", json!({ "ref": 1 }))),
        step(|r| {
            let page = ok_text(r, "page");
            assert!(page.contains("Build the parser"), "{page}");
            Reply::text("I have read it")
        }),
    ]);
    let world = World::build().guard_settings(offered()).agent(agent).subagent(subagent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait("the subagent's end", DEADLINE, |log| log.of(Kind::Subagent).nth(2).cloned());
    tui.wait_screen("the turn's end", |s| s.contains("asked for it"));
}

/// The client refuses the module's tools then, and its own way of calling a server holds.
#[test]
fn a_server_of_the_users_with_our_name_keeps_its_tools() {
    let agent = moves(vec![
        load(),
        step(|_| call("page", "inject", json!({ "ref": 1 }))),
        step(|r| {
            let page = ok_text(r, "page");
            assert!(page.contains("Look at the lexer"), "{page}");
            Reply::text("read it")
        }),
    ]);
    let world = World::build().spy(Spy::default()).guard_settings(offered()).agent(agent).start();
    let program = world.plugin("brain-guard").join("bin/brain-guard");
    let server = json!({"mcpServers": {"brain-guard": {"command": program, "args": ["mcp"]}}});
    let output = world.print(&["--mcp-config", &server.to_string()], "Look at the lexer").finish();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(world.mock.main().len(), 3);
    world.wait_hook("PreToolUse", |hook| hook["tool_name"] == tool("inject"));
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
    let world = World::build().guard_settings(offered()).agent(agent).start();
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

#[test]
fn the_oldest_client_has_the_tools() {
    let version = client::OLDEST;
    let agent = moves(vec![
        load(),
        step(|_| call("page", "inject", json!({ "ref": 1 }))),
        step(|r| {
            assert!(ok_text(r, "page").contains("Look at the lexer"), "{r}");
            Reply::text("read it")
        }),
    ]);
    let world = World::build().client(version).guard_settings(offered()).agent(agent).start();
    let output = world.print(&[], "Look at the lexer").finish();
    assert!(output.status.success(), "{version}: {output:?}");
    assert_eq!(world.mock.main().len(), 3, "{version}");
}
