//! `claude -p` only gets coaching: no denials, no clear, and the answer is unchanged. With the
//! right settings and a host that keeps the input open, it also gets denials and boundaries. A
//! session in the background (`claude --bg`) gets them by itself.

use serde_json::{Value, json};

use super::story::{all_went, append, end, logged, result, said, seal, sealed};
use super::{Move, deliveries, heard, moves, percent, step, told};
use crate::support::mock::Reply;
use crate::support::world::World;

const ANSWER: &str = "The answer: 42\n\n- one\n- two";

fn boundary() -> Value {
    json!({"headless": "boundary", "boundary": {"min_interval_seconds": 0, "attended_notice_seconds": 0}})
}

/// A turn that reads, writes and runs commands at 31 %.
fn coached() -> Vec<Move> {
    vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|r| {
            assert_eq!(heard(r), 0);
            Reply::bash("echo two").tokens(percent(31.0))
        }),
        step(|r| {
            assert_eq!(told(r, "Nothing is blocked, because"), 1);
            Reply::bash("echo three")
                .tokens(percent(31.2))
                .and_tool("Read", json!({"file_path": "README.md"}))
                .and_tool("Write", json!({"file_path": "new.txt", "content": "x"}))
        }),
        step(|r| {
            all_went(r);
            Reply::text(ANSWER).tokens(percent(31.4))
        }),
    ]
}

#[test]
fn a_headless_run_is_only_coached_and_its_answer_stays() {
    let world = World::build().guard_settings(json!({})).agent(moves(coached())).start();
    let arguments = ["--output-format", "json", "--verbose"];
    let output = world.print(&arguments, "What is the answer?").finish();
    assert!(output.status.success(), "{output:?}");
    let events: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let last = events.as_array().map_or(&events, |list| list.last().expect("a result"));
    assert_eq!(last["result"], ANSWER);
    assert_eq!(output.stderr, "");
    let requests = world.mock.main();
    assert_eq!(requests.len(), 4, "one turn");
    assert!(requests.iter().all(|r| r.session == requests[0].session), "never cleared");
    assert!(
        logged(&world).iter().all(|e| e["kind"] != "deny" && e["kind"] != "fault"),
        "{:?}",
        logged(&world)
    );
}

/// The `result` of the only line with one.
fn only_result(out: &str) -> String {
    let lines: Vec<Value> = out.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let results: Vec<&Value> = lines.iter().filter(|l| l["type"] == "result").collect();
    assert_eq!(results.len(), 1, "{out}");
    results[0]["result"].as_str().expect("a result").to_owned()
}

#[test]
fn a_host_that_holds_the_input_open_may_ask_for_boundaries() {
    let agent = moves(vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| {
            let write = json!({"file_path": "new.txt", "content": "x"});
            Reply::bash("true").tokens(percent(31.0)).and_tool_id("write", "Write", write)
        }),
        step(|r| {
            let (text, error) = result(r, "write");
            assert!(error && text.contains("brain-guard blocked"), "{text}");
            append("next", "the parser fails on <CRLF>").tokens(percent(31.1))
        }),
        seal(),
        end(),
        step(|_| Reply::text("the fresh session goes on").tokens(percent(6.0))),
    ]);
    let world = World::build().guard_settings(boundary()).agent(agent).start();
    let mut run = world.stream(&[]);
    run.say("Build the parser");
    run.wait_json("clear", |l| l["type"] == "conversation_reset" && l["trigger"] == "clear");
    run.wait_json("result", |l| {
        l["type"] == "result" && l["result"] == "the fresh session goes on"
    });
    assert!(run.finish().status.success());
    let first = world.mock.wait_main(6);
    assert_ne!(first.session, world.mock.main()[0].session);
    let file = sealed(&world).pop().expect("a sealed file");
    assert_eq!(said(&first, &file), 1);
    let acknowledged = |e: &Value| e.to_string().contains("acknowledged");
    assert!(logged(&world).iter().any(acknowledged), "{:?}", logged(&world));
}

#[test]
fn a_host_that_has_closed_its_input_is_only_coached() {
    let world = World::build().guard_settings(boundary()).agent(moves(coached())).start();
    let mut run = world.stream(&[]);
    run.say("What is the answer?");
    run.close_stdin();
    let output = run.finish();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(only_result(&output.stdout), ANSWER);
    assert_eq!(world.mock.main().len(), 4, "never cleared");
}

#[test]
fn a_background_session_is_cleared_and_continues() {
    let agent = moves(vec![
        step(|_| Reply::bash("true").tokens(percent(5.0))),
        step(|_| append("next", "write the lexer next").tokens(percent(31.0))),
        seal(),
        end(),
        step(|r| {
            assert_eq!(deliveries(r), 1);
            Reply::text("going on").tokens(percent(6.0))
        }),
    ]);
    let world = World::build().guard_settings(super::unattended()).agent(agent).start();
    let mut client = world.command();
    client.args(world.plugin_arguments()).args(["--bg", "Build the parser"]);
    let started = client.output().expect("the client starts");
    assert!(started.status.success(), "{started:?}");
    let fresh = world.mock.wait_main(5);
    assert_ne!(fresh.session, world.mock.main()[0].session, "a fresh session");
    assert!(
        logged(&world).iter().all(|e| e["kind"] != "fault" && e["kind"] != "lifted"),
        "{:?}",
        logged(&world)
    );
}
