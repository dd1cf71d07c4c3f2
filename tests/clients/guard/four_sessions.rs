//! Two jobs over five sessions. One job starts, enters a phase, continues over a boundary, is
//! paused for the other job, resumes, and completes.

use serde_json::{Value, json};

use super::story::{alone, append, end, patient, said, wait_acknowledged};
use super::{Move, moves, only_result, percent, step};
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

const COACH: &str = "Read the grammar before any code.";
const OWN_COACH: &str = "Small steps, the tests after each.";

fn settings() -> Value {
    let mut settings = patient(alone());
    settings["phases"] = json!({"names": {"explore": {"coach": COACH}}});
    settings
}

/// A move that requires success of the previous call.
fn run(command: &'static str, at: f64) -> Move {
    step(move |r| {
        let (text, error) = only_result(r);
        assert!(!error, "before {command}: {text}");
        Reply::bash(command).tokens(percent(at))
    })
}

/// A move that requires that the previous call failed with these words.
fn refused(names: &'static [&'static str], command: &'static str) -> Move {
    step(move |r| {
        let (text, error) = only_result(r);
        assert!(error, "{text}");
        assert!(names.iter().all(|name| text.contains(name)), "{names:?} in {text}");
        Reply::bash(command).tokens(percent(6.0))
    })
}

/// Ends the turn as the previous command asked.
fn ends() -> Move {
    step(|r| {
        let (text, error) = only_result(r);
        assert!(!error && text.contains("end your turn"), "{text}");
        Reply::text("I end my turn.").tokens(percent(6.0))
    })
}

const FILLED: &str = "brain-guard phase exit <<'EOF'
## Forward State
- write the tokenizer
## Open Threads
- CRLF is not covered
## Assumptions & Risks
- none: nothing was assumed
## Process Insight
- the grammar file is the truth, the README is not
- steering: reading first paid off
EOF";

const BUILT: &str = "brain-guard phase exit <<'EOF'
## Forward State
- write the error messages
## Open Threads
- none: all closed
## Assumptions & Risks
- the fuzz corpus is old
## Process Insight
- steering: small steps kept the tree green
EOF";

fn story() -> Vec<Move> {
    vec![
        // First session: the user's prompt starts the job.
        step(|_| Reply::bash("brain-guard job focus parser").tokens(percent(5.0))),
        run("brain-guard phase enter explore", 5.1),
        step(|r| {
            let (text, error) = only_result(r);
            assert!(!error && text.contains(COACH), "{text}");
            let commit = "git init -q && git -c user.name=a -c user.email=a@b.c commit -q \
                          --allow-empty -m 'Read the grammar' && git -c user.name=a \
                          -c user.email=a@b.c commit -q --allow-empty -m 'Sketch the tokenizer'";
            Reply::bash(commit).tokens(percent(5.2))
        }),
        run("brain-guard phase exit <<'EOF'\n## Open Threads\n- CRLF is not covered\nEOF", 5.3),
        refused(&["Forward State", "Assumptions & Risks", "Process Insight"], FILLED),
        run("brain-guard phase enter build --coach 'Small steps, the tests after each.'", 5.5),
        run("echo works", 31.0),
        step(|_| append("directive", "keep the public API").tokens(percent(31.1))),
        run("brain-guard seal --summary 'The grammar is read.'", 31.2),
        end(),
        // Second session: starts in the phase.
        step(|_| Reply::bash(BUILT).tokens(percent(6.0))),
        run("brain-guard job pause", 6.1),
        run("brain-guard job focus docs", 6.2),
        ends(),
        // Third session: starts the other job.
        step(|_| append("thread", "the tutorial lacks an example").tokens(percent(6.0))),
        run("brain-guard job focus parser", 6.1),
        ends(),
        // Fourth session: resumes the first job and completes it.
        step(|_| Reply::bash("brain-guard job complete").tokens(percent(6.0))),
        refused(&["seal"], "brain-guard seal --summary 'The parser is done; its API stayed.'"),
        run("brain-guard job complete", 6.2),
        ends(),
        step(|_| Reply::text("The job is done.").tokens(percent(6.0))),
    ]
}

/// The job list as the user gets it in a terminal.
#[track_caller]
fn jobs(world: &World) -> Value {
    let output = world.guard(&["job", "list", "--json"]);
    serde_json::from_str(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

#[track_caller]
fn state_of(world: &World, job: &str) -> String {
    let all = jobs(world);
    let list = all["jobs"].as_array().expect("a list").clone();
    let found = list.iter().find(|j| j["name"] == job).unwrap_or_else(|| panic!("{job}: {list:?}"));
    found["state"].as_str().unwrap_or_default().to_owned()
}

#[track_caller]
fn fresh(world: &World, number: usize) -> std::sync::Arc<Request> {
    let main = world.mock.wait_main(number);
    let before = &world.mock.main()[number - 2];
    assert_ne!(main.session, before.session, "request {number} is a fresh session's");
    main
}

#[test]
fn two_jobs_continue_over_five_sessions() {
    let world = World::build().guard_settings(settings()).agent(moves(story())).start();
    let tui = world.tui(&[]);
    tui.prompt("Rewrite the parser");
    let ninth = world.mock.wait_main(9);
    assert_eq!(world.mock.main()[0].session, ninth.session, "no clear before the ceiling");

    let second = fresh(&world, 11);
    for text in ["keep the public API", "CRLF is not covered", "Sketch the tokenizer"] {
        assert!(said(&second, text) >= 1, "{text}: {second}");
    }
    assert_eq!(said(&second, OWN_COACH), 1, "the coaching of the phase it wakes up in: {second}");
    assert_eq!(said(&second, COACH), 0, "not of the one that was left");

    let third = fresh(&world, 15);
    assert_eq!(said(&third, "CRLF is not covered"), 0, "nothing of the other job: {third}");
    assert_eq!(said(&third, "# docs"), 1, "a new file: {third}");
    assert_eq!(state_of(&world, "parser"), "paused");

    let fourth = fresh(&world, 18);
    for text in ["write the error messages", "keep the public API", "the fuzz corpus is old"] {
        assert_eq!(said(&fourth, text), 1, "{text}: {fourth}");
    }
    assert_eq!(said(&fourth, "the tutorial lacks an example"), 0, "{fourth}");

    let fifth = fresh(&world, 22);
    assert_eq!(said(&fifth, "The parser is done; its API stayed."), 1, "{fifth}");
    for text in ["CRLF is not covered", "write the error messages", "## Forward State"] {
        assert_eq!(said(&fifth, text), 0, "{text}: the transition note only: {fifth}");
    }
    tui.wait_idle();
    wait_acknowledged(&world);
    assert_eq!(state_of(&world, "parser"), "completed");
    assert_eq!(state_of(&world, "docs"), "paused");
    let sealed = world.guard(&["job", "show", "parser"]);
    assert!(sealed.stdout.contains("v0002") || sealed.stdout.contains("version 2"), "{sealed:?}");
}
