//! A job across clients. A continued session takes its job again, and a fork takes it over. Only
//! one session holds a job, and a new session is offered a job that nobody holds.

use serde_json::Value;

use super::story::{alone, said};
use super::{append, moves, percent, step, told};
use crate::support::mock::Reply;
use crate::support::world::{Spy, World};

fn first_job(world: &World) -> Value {
    let jobs = world.guard(&["job", "list", "--json"]);
    let jobs: Value = serde_json::from_str(&jobs.stdout).expect("JSON");
    jobs["jobs"][0].clone()
}

#[test]
fn a_job_is_resumed_held_once_and_offered_when_free() {
    let text = |text: &'static str| step(move |_| Reply::text(text).tokens(percent(5.0)));
    let agent = moves(vec![
        step(|_| append("next", "the lexer drops a token").tokens(percent(5.0))),
        text("written"),
        text("going on"),
        text("all my own"),
        text("hello"),
    ]);
    let world = World::build().guard_settings(alone()).agent(agent).start();
    let first = world.tui(&[]);
    first.prompt("Build the lexer");
    world.mock.wait_main(2);
    first.wait_screen("the turn's end", |s| s.contains("written"));
    first.wait_idle();
    let job = first_job(&world)["name"].as_str().expect("a job").to_owned();
    first.quit();
    assert_eq!(first_job(&world)["holder"], Value::Null, "its client has ended");

    let again = world.tui(&["--continue"]);
    again.wait_idle();
    world.wait("the job to be taken again", || {
        first_job(&world)["holder"]["session"].is_string().then_some(())
    });
    again.prompt("Go on");
    let request = world.mock.wait_main(3);
    assert_eq!(told(&request, &format!("this session works on the job {job}")), 1, "{request}");
    again.wait_screen("the turn's end", |s| s.contains("going on"));

    let beside = world.tui(&[]);
    beside.wait_idle();
    assert!(!beside.screen().contains("is unfinished"), "somebody works on it");
    beside.prompt("Something else");
    let request = world.mock.wait_main(4);
    assert_eq!(said(&request, "is unfinished"), 0, "{request}");
    beside.wait_screen("the turn's end", |s| s.contains("all my own"));
    beside.quit();
    again.quit();

    let new = world.tui(&[]);
    new.wait_screen("the offer", |s| s.contains(&format!("continues the job {job}")));
    new.prompt("Hello");
    let request = world.mock.wait_main(5);
    assert_eq!(told(&request, &format!("`brain-guard job focus {job}`")), 1, "{request}");
    new.wait_screen("the turn's end", |s| s.contains("hello"));
}

#[test]
fn a_forked_conversation_takes_over_the_job() {
    let agent = moves(vec![
        step(|_| append("next", "the lexer drops a token").tokens(percent(5.0))),
        step(|_| Reply::text("written").tokens(percent(5.0))),
        step(|_| append("next", "the branch goes on").tokens(percent(5.1))),
        step(|_| Reply::text("branched").tokens(percent(5.2))),
    ]);
    let world = World::build().guard_settings(alone()).spy(Spy::default()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    world.mock.wait_main(2);
    tui.wait_screen("the turn's end", |s| s.contains("written"));
    tui.wait_idle();
    let (before, job) = (world.mock.main()[0].session.clone(), first_job(&world)["name"].clone());
    tui.prompt("/branch");
    world.wait_hook("SessionStart", |hook| hook["source"] == "fork");
    tui.wait_idle();
    tui.prompt("Go on here");
    let request = world.mock.wait_main(3);
    assert_ne!(request.session, before, "{request}");
    tui.wait_screen("the turn's end", |s| s.contains("branched"));
    assert_eq!(first_job(&world)["name"], job, "the same job");
    assert_eq!(first_job(&world)["holder"]["session"].as_str(), request.session.as_deref());
    let job = job.as_str().expect("a job");
    assert_eq!(told(&request, &format!("this session works on the job {job}")), 1, "{request}");
}
