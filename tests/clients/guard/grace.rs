//! Sessions that only get coaching for a while: those in plan mode, and resumed ones that were
//! already full when the guard first saw them.

use serde_json::{Value, json};

use super::story::{all_went, explain, result, status, watched};
use super::{Move, moves, percent, step, told};
use crate::support::mock::Reply;
use crate::support::process;
use crate::support::world::World;

#[test]
fn plan_mode_is_only_coached() {
    let read = |id: &'static str, at| {
        Reply::tool("Read", json!({"file_path": format!("{id}.txt")})).tokens(percent(at))
    };
    let agent = moves(vec![
        step(move |_| read("a", 5.0)),
        step(move |_| read("b", 31.0)),
        step(move |r| {
            all_went(r);
            assert_eq!(told(r, "because the session is in plan mode"), 1);
            read("c", 31.2)
        }),
        step(|r| {
            all_went(r);
            Reply::text("a plan").tokens(percent(31.4))
        }),
    ]);
    let mut world = World::build().permission_mode("plan").guard_settings(watched()).agent(agent);
    for name in ["a.txt", "b.txt", "c.txt"] {
        world = world.file(name, "text\n");
    }
    let world = world.start();
    let tui = world.tui(&[]);
    tui.prompt("Plan the parser");
    world.mock.wait_main(4);
    tui.wait_screen("the turn's end", |s| s.contains("a plan"));
    tui.wait_idle();
    assert_eq!(world.mock.main().len(), 4, "the turn may end unsealed");
    let status = explain(&world);
    assert_eq!(
        (&status["tier"], &status["stance"]),
        (&json!("narrow"), &json!("coach")),
        "{status}"
    );
    assert_eq!(
        (&status["capped"], &status["last_denied"]),
        (&json!("the session is in plan mode"), &Value::Null)
    );
}

/// A session that reached 60 % without the plugin, for resuming with it.
fn resumed(script: Vec<Move>) -> World {
    let mut all = vec![step(|_| Reply::text("long ago").tokens(percent(60.0)))];
    all.extend(script);
    let mut world = World::build().guard_settings(watched()).agent(moves(all));
    for n in 0..4 {
        world = world.file(&format!("doc-{n}.txt"), "text\n");
    }
    let world = world.start();
    let output = process::run(world.command().args(["-p", "begin"]), process::DEADLINE);
    assert!(output.is_ok_and(|o| o.status.success()));
    world
}

fn id(world: &World) -> String {
    let path = world.transcripts().remove(0);
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

fn read(n: usize, at: f64) -> Reply {
    Reply::bash("true").tokens(percent(at)).and_tool_id(
        &format!("read-{n}"),
        "Read",
        json!({"file_path": format!("doc-{n}.txt")}),
    )
}

#[test]
fn a_resumed_session_is_coached_until_it_has_grown() {
    let world = resumed(vec![
        step(|_| read(0, 60.1)),
        step(|r| {
            all_went(r);
            assert_eq!(told(r, "already this full when it was first seen"), 1);
            read(1, 60.6)
        }),
        step(|r| {
            all_went(r);
            read(2, 61.2)
        }),
        step(|r| {
            let (text, error) = result(r, "read-2");
            assert!(error && text.contains("brain-guard blocked"), "{text}");
            Reply::text("stopped here").tokens(percent(61.3))
        }),
    ]);
    let tui = world.tui(&["--resume", &id(&world)]);
    tui.prompt("Go on");
    world.mock.wait_main(5);
    // In the transcript, the response before it has too few tokens yet.
    world.wait("narrow", || (status(&world)["stance"] == "narrow").then_some(()));
    assert!(explain(&world)["base_percent"].as_f64().is_some_and(|b| b < 0.01), "never a base");
}

#[test]
fn a_resumed_session_is_coached_for_twenty_five_calls() {
    let many = |n: usize, count: usize| {
        (1..count).fold(read(n, 60.1), |reply, _| {
            reply.and_tool("Bash", json!({"command": "true", "description": "d"}))
        })
    };
    let world = resumed(vec![
        step(move |_| many(0, 11)),
        step(move |r| {
            all_went(r);
            many(1, 12)
        }),
        step(|r| {
            all_went(r);
            read(2, 60.2)
        }),
        step(|r| {
            let (text, error) = result(r, "read-2");
            assert!(error && text.contains("brain-guard blocked"), "{text}");
            Reply::text("stopped here").tokens(percent(60.3))
        }),
    ]);
    let tui = world.tui(&["--resume", &id(&world)]);
    tui.prompt("Go on");
    world.mock.wait_main(5);
}
