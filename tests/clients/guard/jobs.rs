//! Jobs across sessions. Naming a job needs no clear; switching to a new or a known job starts a
//! fresh session. A completed job leaves only its summary.

use serde_json::{Value, json};

use super::story::{all_went, alone, logged, patient, said, with_chords};
use super::{Move, append, moves, only_result, percent, step};
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

const BINDING: &str = "never log the token";
const SUMMARY: &str = "the lexer works; CRLF was the hard part";

/// The agent's moves in four sessions, with five, two, two and one requests.
fn script() -> Vec<Move> {
    vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| append("directive", BINDING).tokens(percent(5.1))),
        step(|r| verb(r, "brain-guard job focus lexer", 5.2)),
        step(|r| {
            let (said, error) = only_result(r);
            assert!(!error && said.contains("notes are the job lexer's now"), "{said}");
            verb(r, "brain-guard job focus docs", 5.3)
        }),
        step(ends),
        step(|r| {
            assert!(
                r.contains("switched to the job docs") && r.contains("The compaction file is new"),
                "{r}"
            );
            assert_eq!(said(r, "> Work on the lexer, then the docs"), 1, "{r}");
            assert_eq!(said(r, BINDING), 0, "the other job's notes stay with it: {r}");
            verb(r, "brain-guard job focus lexer", 6.0)
        }),
        step(ends),
        step(|r| {
            assert!(r.contains("switched to the job lexer"), "{r}");
            let complete = format!(
                "brain-guard append --kind thread 'one more' && brain-guard seal --no-clear --summary '{SUMMARY}' && brain-guard job complete"
            );
            verb(r, &complete, 6.0)
        }),
        step(ends),
        step(|r| {
            assert!(r.contains("completed the job lexer"), "{r}");
            assert_eq!(said(r, SUMMARY), 1, "{r}");
            for gone in [BINDING, "one more", "## ", "Work on the lexer"] {
                assert_eq!(said(r, gone), 0, "{gone}: {r}");
            }
            Reply::text("The lexer is done.").tokens(percent(6.0))
        }),
    ]
}

fn verb(request: &Request, command: &str, fill: f64) -> Reply {
    all_went(request);
    Reply::bash(command).tokens(percent(fill))
}

fn ends(request: &Request) -> Reply {
    let (said, error) = only_result(request);
    assert!(!error && said.contains("end your turn now"), "{said}");
    Reply::text("I end my turn.").tokens(percent(6.1))
}

fn played(world: &World) {
    let tui = world.tui(&[]);
    tui.prompt("Work on the lexer, then the docs");
    let last = world.mock.wait_main(10);
    let sessions: std::collections::BTreeSet<_> =
        world.mock.main().iter().map(|r| r.session.clone()).collect();
    assert_eq!(sessions.len(), 4, "{last}");
    world.wait("three deliveries, each whole", || {
        let whole = |e: &&Value| e["kind"] == "arrived" && e["whole"] == true;
        (logged(world).iter().filter(whole).count() == 3).then_some(())
    });
    tui.wait_idle();
    assert_eq!(world.mock.main().len(), 10, "nothing starts by itself");
    let jobs = world.guard(&["job", "list", "--json"]);
    let mut jobs: Value = serde_json::from_str(&jobs.stdout).expect("JSON");
    let jobs = jobs["jobs"].take();
    let state = |name: &str| {
        let job = jobs.as_array().into_iter().flatten().find(|job| job["name"] == name);
        job.map_or(Value::Null, |job| json!([job["state"], job["holder"]]))
    };
    assert_eq!(state("lexer"), json!(["completed", null]), "{jobs}");
    assert_eq!(state("docs"), json!(["paused", null]), "{jobs}");
    assert_eq!(jobs.as_array().map(Vec::len), Some(2), "no default job was made: {jobs}");
    let faults: Vec<Value> = logged(world).into_iter().filter(|e| e["kind"] == "fault").collect();
    assert_eq!(faults, Vec::<Value>::new());
}

#[test]
fn jobs_switch_by_the_module() {
    let world = World::build().guard_settings(patient(alone())).agent(moves(script())).start();
    played(&world);
}

#[test]
fn jobs_switch_in_tmux_without_the_module() {
    let settings = super::tmux::settings(&[]);
    let world = World::build().without_mod().in_tmux().guard_settings(settings);
    let world = world.agent(moves(script())).start();
    with_chords(&world);
    played(&world);
}

/// Commands typed by the user: listing costs no turn, and the agent does the sealing.
#[test]
fn job_and_seal_commands_work_at_the_prompt() {
    let agent = moves(vec![
        step(|r| {
            assert!(r.last_user_text().contains("brain-guard seal --clear"), "{r}");
            append("next", "the lexer drops the last token").tokens(percent(5.0))
        }),
        step(|r| verb(r, "brain-guard seal --clear", 5.1)),
        step(ends),
        step(|r| {
            assert_eq!(said(r, "the lexer drops the last token"), 1, "{r}");
            Reply::text("going on").tokens(percent(5.0))
        }),
        step(|r| {
            assert!(r.last_user_text().contains("brain-guard job focus lexer"), "{r}");
            verb(r, "brain-guard job focus lexer", 5.1)
        }),
        step(|r| {
            let (said, error) = only_result(r);
            assert!(!error && said.contains("notes are the job lexer's now"), "{said}");
            Reply::text("It is the lexer's.").tokens(percent(5.2))
        }),
    ]);
    let world = World::build().guard_settings(patient(alone())).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("/brain-guard:job list");
    tui.wait_screen("the answer", |s| s.contains("no job yet"));
    tui.wait_screen("an empty box", |_| tui.prompt_box().as_deref() == Some(""));
    tui.wait_idle();
    assert_eq!(world.mock.main().len(), 0, "no request");
    tui.prompt("/brain-guard:seal");
    world.mock.wait_main(4);
    tui.wait_screen("the turn's end", |s| s.contains("going on"));
    tui.wait_idle();
    tui.prompt("/brain-guard:job focus lexer");
    world.mock.wait_main(6);
    tui.wait_screen("the turn's end", |s| s.contains("It is the lexer's"));
    tui.wait_idle();
    assert_eq!(super::story::status(&world)["job"], "lexer");
}
