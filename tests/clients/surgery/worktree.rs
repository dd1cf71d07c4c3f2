//! When a session enters or leaves a worktree, client 2.1.329 moves its file to another folder
//! under the same id. The store keeps treating it as one session.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use crate::guard::{moves, step};
use crate::support::client::Tui;
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

#[test]
fn a_session_stays_one_through_a_worktree() {
    let search = |name: &str| Reply::tool("ToolSearch", json!({"query": format!("select:{name}")}));
    let agent = moves(vec![
        step(|_| Reply::text("iota is done").tokens(21_000)),
        step(move |_| search("EnterWorktree").tokens(22_000)),
        step(|_| Reply::tool("EnterWorktree", json!({"name": "wt1"})).tokens(23_000)),
        step(|_| Reply::text("kappa is done").tokens(24_000)),
        step(move |_| search("ExitWorktree").tokens(25_000)),
        step(|_| Reply::tool("ExitWorktree", json!({"action": "keep"})).tokens(26_000)),
        step(|_| Reply::text("lambda is done").tokens(27_000)),
    ]);
    let world = World::build().bare().agent(agent).start();
    let tui = world.tui(&[]);
    // The client writes rows a moment after it shows them.
    let imported = |answer: &str| {
        let path = world.wait("the answer in the transcript", || {
            let paths = world.transcripts();
            assert!(paths.len() < 2, "the file is moved: {paths:?}");
            let is_written =
                |path: &PathBuf| fs::read_to_string(path).is_ok_and(|text| text.contains(answer));
            paths.into_iter().find(is_written)
        });
        let done = world.guard(&["import", "--all"]);
        assert!(done.status.success(), "{}{}", done.stdout, done.stderr);
        path
    };
    let turns = [
        ("iota", 1, "iota is done"),
        ("kappa", 4, "kappa is done"),
        ("lambda", 7, "lambda is done"),
    ];
    let places = turns.map(|(prompt, upto, answer)| {
        tui.prompt(prompt);
        world.mock.wait_main(upto);
        tui.wait_screen(answer, |screen| screen.contains(answer));
        tui.wait_idle();
        imported(answer)
    });
    tui.quit();
    assert_eq!(imported("lambda is done"), places[2]);
    assert_eq!(places[0], places[2]);
    assert_eq!(places[0].file_name(), places[1].file_name());
    assert_ne!(places[0], places[1]);

    let found = world.guard(&["doctor"]).stdout;
    assert!(found.contains("store        1 session"), "{found}");
    for (_, _, answer) in turns {
        let found = world.guard(&["search", answer, "--json"]);
        assert_eq!(found.stdout.matches("\"round\":").count(), 1, "{}", found.stdout);
    }
}

/// An agent that enters a worktree, says where it is, or reads a long part.
fn wanders(request: &Request) -> Reply {
    let (asked, results) = (request.prompt(), request.tool_results());
    let is_first = results.is_empty();
    let reply = match asked {
        "enter" if is_first => Reply::tool("ToolSearch", json!({"query": "select:EnterWorktree"})),
        "Tool loaded." => Reply::tool("EnterWorktree", json!({"name": "wt1"})),
        "down" if is_first => Reply::bash("mkdir sub; cd sub"),
        "where" if is_first => {
            Reply::bash("pwd; git rev-parse --show-toplevel; git branch --show-current; true")
        }
        part if part.starts_with("part") && is_first => Reply::bash(&format!(
            "for i in $(seq 1 200); do echo \"{part}, line $i of many\"; done"
        )),
        _ => Reply::text("done"),
    };
    reply.tokens(60_000)
}

/// Surgery on the running session, and the way back, leave the agent where it works.
fn stays(to: &str, go: impl Fn(&Tui, &dyn Fn(&str))) {
    let world = World::build().agent(wanders).file("deeper/file.txt", "deep").start();
    let tui = world.tui(&[]);
    let ask = |text: &str| {
        let before = world.mock.main().len();
        tui.prompt(text);
        world.mock.wait_main(before + 1);
        tui.wait_idle();
    };
    let place = || {
        ask("where");
        let last = world.mock.main().pop().expect("a request");
        last.tool_results().pop().expect("a result").text.clone()
    };
    let command = |command: &str, done: &str| {
        tui.prompt(command);
        tui.wait_screen(command, |screen| screen.contains(done));
        tui.wait_idle();
    };
    for n in 1..=3 {
        ask(&format!("part {n}"));
    }
    go(&tui, &ask);
    for n in 4..=6 {
        ask(&format!("part {n}"));
    }
    let there = place();
    let folder = world.project().join(to).canonicalize().expect("a folder");
    assert_eq!(there.lines().next(), folder.to_str(), "{there}");
    // A `cd` of the shell is no move.
    ask("down");
    command("/brain-guard:slim", super::live::PROPOSED);
    for (text, done) in [
        ("/brain-guard:slim yes", super::live::DONE),
        ("/brain-guard:undo", "The later messages are"),
        ("/brain-guard:undo redo", "again in the session you came back from. "),
    ] {
        command(text, done);
        assert_eq!(place(), there, "after {text}");
    }
    tui.quit();
}

#[test]
fn a_shortened_session_goes_on_in_its_worktree() {
    stays(".claude/worktrees/wt1", |_, ask| ask("enter"));
}

#[test]
fn a_shortened_session_goes_on_where_the_user_took_it() {
    stays("deeper", |tui, _| {
        tui.prompt("/cd deeper");
        tui.wait_screen("the folder", |screen| screen.contains("project/deeper"));
    });
}

#[test]
fn a_shortened_session_goes_on_in_the_parent_folder() {
    stays("..", |tui, _| {
        tui.prompt("/cd ..");
        tui.wait_screen("the question", |screen| screen.contains("Yes, move here"));
        std::thread::sleep(Duration::from_millis(500));
        tui.keys("Down");
        tui.answer("Enter");
    });
}
