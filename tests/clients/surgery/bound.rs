//! Newer models refuse a thinking block once anything before it changed. The mock does the same: system
//! prompt, tools and all messages before each block must be those of the request that it answered.

use std::sync::Arc;

use serde_json::json;

use super::live::{DONE, PROPOSED, id};
use super::played::{NEXT, guard, make, resume};
use crate::guard::{Move, moves, step};
use crate::support::mock::{Reply, Request};
use crate::support::process::kill_with_home;
use crate::support::world::{Builder, World};

pub(super) const ASKED: [&str; 3] = ["alpha: count", "beta: count on", "gamma: count further"];

fn round(asked: &'static str) -> [Move; 2] {
    let from = 1000 * asked.len();
    let count = json!({"command": format!("seq {from} {}", from + 400)});
    [
        step(move |_| {
            let thought = format!("before the call of {asked}");
            Reply::thinking(thought).and_tool("Bash", count.clone()).tokens(21_000)
        }),
        step(move |_| {
            let thought = format!("before the answer to {asked}");
            Reply::thinking(thought).and_text(format!("{asked} is done")).tokens(22_000)
        }),
    ]
}

/// How many thinking blocks the last request has, and how many of them would be refused.
pub(super) fn thinking(requests: &[Arc<Request>]) -> (usize, usize) {
    requests.last().expect("a request").thinking(requests.iter())
}

/// Plays the rounds, and tags the second.
pub(super) fn play(world: Builder, more: Vec<Move>) -> (World, String) {
    let agent = ASKED.into_iter().flat_map(round).chain(more).collect();
    let world = world.bare().agent(moves(agent)).start();
    for (at, asked) in ASKED.into_iter().enumerate() {
        let more = if at == 0 { &[][..] } else { &["--continue"][..] };
        let output = world.print(more, asked).finish();
        assert!(output.status.success(), "{output:?}");
    }
    let session = id(&world.transcripts().pop().expect("a transcript"));
    guard(&world, &["tag", &session, "2", "counting"]);
    (world, session)
}

/// Makes a session, resumes it, and counts the thinking in that request.
fn resumed(world: &World, arguments: &[&str]) -> (usize, usize) {
    let made = make(world, arguments).remove(0);
    resume(world, &made.id);
    thinking(&world.mock.main())
}

#[test]
fn no_operation_leaves_thinking_that_the_model_refuses() {
    let (world, id) = &play(World::build().strict(), Vec::new());
    let engagement = ["surgery", "compress-engagement", id, "counting"];
    assert_eq!(resumed(world, &engagement), (2, 0), "those before the change stay");
    assert_eq!(resumed(world, &["surgery", "compress-before", id, "round:2"]), (0, 0));
    assert_eq!(resumed(world, &["surgery", "extract-engagement", id, "counting"]), (0, 0));
    assert_eq!(resumed(world, &["extract", "run", id]), (0, 0));
    let short = ["--tool-result", "summary"];
    assert_eq!(resumed(world, &[&engagement[..], &short].concat()), (0, 0));
    let other = make(world, &engagement).remove(0).id;
    assert_eq!(resumed(world, &["surgery", "merge", id, &other]).1, 0);
    let file = |name: &str, text: &str| {
        let path = world.project().join(name);
        std::fs::write(&path, text).expect("the project is writable");
        path.display().to_string()
    };
    let map = file("map.json", r#"{"engagements": {"one": "1,3", "two": "2"}}"#);
    assert_eq!(resumed(world, &["surgery", "split", id, &map]).1, 0);
    let list = file("list.txt", "shrink 2\nindex 1\n");
    assert_eq!(resumed(world, &["surgery", "edit", id, "--plan", &list]).1, 0);
    // The session itself is as it was.
    resume(world, id);
    assert_eq!(thinking(&world.mock.main()), (6, 0));
    assert_eq!(world.mock.refused().len(), 0);
    // The split has tagged it.
    guard(world, &["tag", id, "2", "counting"]);
    // As asked for, it stays; the client then sends the request again without any.
    let full = make(world, &[&engagement[..], &["--thinking", "full"]].concat()).remove(0);
    assert!(world.print(&["--resume", &full.id], NEXT).finish().status.success());
    assert_eq!(world.mock.refused().len(), 1);
    assert_eq!(thinking(&world.mock.main()), (0, 0));
}

#[test]
fn thinking_stays_for_a_model_that_takes_it() {
    let (world, id) = &play(World::build().env("ANTHROPIC_MODEL", "claude-opus-4-8"), Vec::new());
    assert_eq!(world.mock.main()[0].body["model"], "claude-opus-4-8");
    let kept = |arguments: &[&str]| resumed(world, arguments).0;
    assert_eq!(kept(&["surgery", "compress-engagement", id, "counting"]), 4);
    assert_eq!(kept(&["surgery", "compress-before", id, "round:2"]), 4);
    assert_eq!(kept(&["extract", "run", id]), 6);
}

/// A session whose client was killed while a command ran.
#[test]
fn a_session_that_ends_in_a_call_is_resumed() {
    let waits = || {
        let input = json!({"command": "sleep 5", "description": "Wait"});
        step(move |_| {
            Reply::thinking("it takes long").and_tool("Bash", input.clone()).tokens(23_000)
        })
    };
    let (world, id) = &play(World::build().strict(), vec![waits()]);
    let run = world.print(&["--continue"], "delta: wait");
    let path = world.transcripts().pop().expect("a transcript");
    let is_written = || std::fs::read_to_string(&path).is_ok_and(|text| text.contains("sleep 5"));
    world.wait("the call in the file", || is_written().then_some(()));
    kill_with_home(&world.home());
    run.finish();
    assert_eq!(resumed(world, &["surgery", "compress-engagement", id, "counting"]), (2, 0));
    assert_eq!(resumed(world, &["surgery", "compress-before", id, "round:4"]), (0, 0));
    resume(world, id);
    let (all, refused) = thinking(&world.mock.main());
    assert!(all >= 6 && refused == 0, "the client's own: {all}, {refused}");
    assert_eq!(world.mock.refused().len(), 0);
}

/// An agent that thinks before it reads a long part.
fn reads(request: &Request) -> Reply {
    let part = request.prompt().strip_prefix("read part ").map(str::to_owned);
    let reply = match part.filter(|_| request.tool_results().is_empty()) {
        Some(part) => {
            let command =
                format!("for i in $(seq 1 200); do echo \"part {part}, line $i of many\"; done");
            let input = json!({"command": command, "description": "Read it"});
            Reply::thinking(format!("where is {part}?")).and_tool("Bash", input)
        }
        None => Reply::thinking("there it is").and_text("that is all of it"),
    };
    reply.tokens(60_000)
}

/// Slim and undo in the running session, with the module.
#[test]
fn a_running_session_sends_no_thinking_that_is_refused() {
    let world = World::build().strict().agent(reads).start();
    let tui = world.tui(&[]);
    let ask = |text: &str| {
        let before = world.mock.main().len();
        tui.prompt(text);
        world.mock.wait_main(before + 1);
        tui.wait_idle();
        thinking(&world.mock.main())
    };
    for n in 1..=6 {
        ask(&format!("read part {n}"));
    }
    assert_eq!(ask("and now?"), (12, 0));
    let command = |command: &str, done: &str| {
        tui.prompt(command);
        tui.wait_screen(command, |screen| screen.contains(done));
        tui.wait_idle();
    };
    command("/brain-guard:slim", PROPOSED);
    command("/brain-guard:slim yes", DONE);
    assert_eq!(ask("and then?"), (0, 0), "a changed session");
    assert_eq!(ask("and after that?"), (1, 0), "what was thought since");
    command("/brain-guard:undo", "The later messages are");
    assert_eq!(ask("and here?"), (13, 0), "the session as it was");
    command("/brain-guard:undo redo", "again in the session you came back from. ");
    assert_eq!(ask("and there?"), (2, 0));
    assert_eq!(world.mock.refused().len(), 0);
    tui.quit();
}
