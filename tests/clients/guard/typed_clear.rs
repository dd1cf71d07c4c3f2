//! After a `/clear` by the user without a seal: a default job's piece of work ends and is offered, a
//! job that somebody named stays.

use super::story::{append, said, watched};
use super::{Move, deliveries, moves, percent, step, told};
use crate::support::client::Tui;
use crate::support::mock::Reply;
use crate::support::world::World;

const ENTRY: &str = "the lexer drops the last token";

/// Plays these moves and then `/clear`. The agent goes on with the other moves.
#[track_caller]
fn cleared(script: Vec<Move>, then: Vec<Move>) -> (World, Tui) {
    let count = script.len();
    let agent = moves(script.into_iter().chain(then).collect());
    let world = World::build().guard_settings(watched()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    world.mock.wait_main(count);
    tui.wait_screen("the turn's end", |s| s.contains("the turn ends"));
    tui.wait_idle();
    tui.prompt("/clear");
    tui.wait_screen("an empty conversation", |s| !s.contains("the turn ends"));
    tui.wait_idle();
    assert_eq!(world.mock.main().len(), count, "nothing starts by itself");
    (world, tui)
}

#[test]
fn a_typed_clear_ends_the_piece_of_work_and_resume_brings_it_back() {
    let script = vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| append("next", ENTRY).tokens(percent(31.0))),
        step(|_| Reply::text("no").tokens(percent(31.1))),
        step(|_| Reply::text("no").tokens(percent(31.1))),
        step(|_| Reply::text("the turn ends").tokens(percent(31.1))),
    ];
    let then = vec![
        step(|r| {
            assert_eq!(told(r, "only if the user wants to continue it"), 1, "{r}");
            assert_eq!((said(r, ENTRY), said(r, "Build the lexer")), (0, 0), "{r}");
            append("next", "write the parser").tokens(percent(5.0))
        }),
        step(|_| Reply::text("fresh").tokens(percent(5.1))),
        step(|r| {
            assert_eq!(deliveries(r), 1, "{r}");
            assert_eq!(said(r, ENTRY), 1, "{r}");
            assert_eq!(told(r, "Your user continues the job"), 1, "{r}");
            Reply::text("going on with the lexer").tokens(percent(6.0))
        }),
    ];
    let (world, tui) = cleared(script, then);
    tui.wait_screen("the offer", |s| s.contains("/brain-guard:resume continues the job"));
    tui.prompt("Now the parser");
    let first = world.mock.wait_main(6);
    assert_ne!(first.session, world.mock.main()[0].session);
    world.mock.wait_main(7);
    tui.wait_idle();
    tui.prompt("/brain-guard:resume");
    world.mock.wait_main(8);
    tui.wait_idle();
    let status = super::story::status(&world);
    let path = status["file"]["path"].as_str().expect("a path");
    let notes = std::fs::read_to_string(path).expect("the file");
    assert!(notes.contains(ENTRY) && !notes.contains("write the parser"), "{notes}");
    assert_eq!(status["boundary"], serde_json::Value::Null);
}

#[test]
fn a_job_that_somebody_named_stays_after_a_typed_clear() {
    let script = vec![
        step(|_| Reply::bash("brain-guard job focus lexer --no-clear").tokens(percent(5.0))),
        step(|_| append("next", ENTRY).tokens(percent(5.0))),
        step(|_| Reply::text("the turn ends").tokens(percent(5.1))),
    ];
    let then = vec![step(|r| {
        assert_eq!(told(r, "your user cleared the conversation"), 1, "{r}");
        assert_eq!(told(r, "jobs/lexer/compaction.md"), 1, "{r}");
        assert_eq!(said(r, ENTRY), 0, "the path, never the file");
        Reply::text("fresh").tokens(percent(5.0))
    })];
    let (world, tui) = cleared(script, then);
    tui.prompt("What now?");
    world.mock.wait_main(4);
    tui.wait_idle();
    assert_eq!(super::story::status(&world)["job"], "lexer");
}
