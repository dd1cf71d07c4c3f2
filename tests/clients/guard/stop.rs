//! Turns that end at the top tier without a seal.

use serde_json::json;

use base::clock::Time;
use base::env::Env;
use base::paths::Places;
use guard::files::state;

use super::{Move, append, asked, deliveries, moves, only_result, percent, step, unattended};
use crate::support::mock::Reply;
use crate::support::world::{Builder, World};

/// An agent that ends its turn three times; the hook refuses the first two. `first` is its move at
/// `narrow`, `last` its move after the third end.
fn stubborn(first: fn() -> Reply, last: Move) -> Builder {
    let refused = |n: u32| {
        step(move |r| {
            let told = r.last_user_text();
            assert!(
                told.contains("Stop hook additional context") && told.contains("not sealed yet"),
                "{n}: {told}"
            );
            Reply::text("I am done.").tokens(percent(31.2))
        })
    };
    World::build().agent(moves(vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(move |_| first().tokens(percent(31.0))),
        step(|_| Reply::text("I am done.").tokens(percent(31.1))),
        refused(1),
        refused(2),
        last,
    ]))
}

fn delivered() -> Move {
    step(|r| {
        assert_eq!(deliveries(r), 1, "only a boundary brings a further request");
        Reply::text("going on").tokens(percent(6.0))
    })
}

fn nobody_there() -> serde_json::Value {
    let mut settings = unattended();
    settings["boundary"]["attended_minutes"] = json!(0);
    settings
}

#[test]
fn the_guard_seals_an_unattended_third_end() {
    let world = stubborn(|| append("directive", "write the lexer next"), delivered())
        .guard_settings(nobody_there())
        .start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    let last = world.mock.wait_main(6);
    assert_ne!(last.session, world.mock.main()[4].session);
    assert!(last.user_texts().iter().any(|t| t.contains("write the lexer next")));
    tui.wait_idle();
    assert_eq!(asked(&world, "status")["boundary"], json!(null));
}

#[test]
fn without_notes_no_boundary_starts_and_the_agent_continues() {
    let goes_on = step(|r| {
        let told = r.last_user_text();
        assert!(
            told.contains("Nothing is blocked") && told.contains("continue the work"),
            "{told}"
        );
        Reply::text("I am done, as I said.").tokens(percent(31.3))
    });
    let world = stubborn(|| Reply::bash("ls"), goes_on).guard_settings(nobody_there()).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(6);
    tui.wait_idle();
    let status = asked(&world, "status");
    assert_eq!((&status["tier"], &status["boundary"]), (&json!("narrow"), &json!(null)));
    let capped = status["capped"].as_str().expect("nothing is blocked without a way out");
    assert!(capped.contains("no new notes were written in this session"), "{capped}");
    assert_eq!(status["session"].as_str(), world.mock.main()[0].session.as_deref());
    assert_eq!(world.mock.main().len(), 6);
}

#[test]
fn an_attended_third_end_waits_for_the_user() {
    let world = stubborn(|| append("directive", "write the lexer next"), delivered())
        .guard_settings(unattended())
        .start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(5);
    tui.wait_idle();
    let status = asked(&world, "status");
    assert_eq!(status["attended"], true);
    assert_eq!(status["boundary"]["step"], "unsealed", "{status}");
    assert!(tui.screen().contains("the session is waiting for you"), "the person is told");
    assert_eq!(status["session"].as_str(), world.mock.main()[0].session.as_deref());
    assert_eq!(world.mock.main().len(), 5);
}

#[test]
fn the_now_command_does_not_wait_for_the_user() {
    let world = stubborn(|| append("directive", "write the lexer next"), delivered())
        .guard_settings(unattended())
        .start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(5);
    tui.wait_idle();
    assert_eq!(asked(&world, "status")["boundary"]["step"], "unsealed");
    tui.prompt("/brain-guard:now");
    let last = world.mock.wait_main_within(6, std::time::Duration::from_secs(20));
    assert_ne!(last.session, world.mock.main()[4].session);
    assert!(last.user_texts().iter().any(|t| t.contains("write the lexer next")));
}

#[test]
fn a_session_is_sealed_and_cleared_when_the_user_is_away() {
    let mut settings = unattended();
    settings["boundary"]["attended_minutes"] = json!(1);
    let world = stubborn(|| append("directive", "write the lexer next"), delivered())
        .guard_settings(settings)
        .start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(5);
    let told = std::time::Instant::now();
    let last = world.mock.wait_main_within(6, std::time::Duration::from_secs(90));
    assert!(told.elapsed().as_secs() > 40, "while the person counts as there nothing happens");
    assert!(last.user_texts().iter().any(|t| t.contains("write the lexer next")));
}

/// Makes the user's last prompt this many seconds older.
fn age_last_prompt(world: &World, seconds: i64) {
    let (home, kept) = (world.home(), world.state());
    let text = |path: &'_ std::path::Path| path.to_str().expect("UTF-8").to_owned();
    let env =
        Env::from_pairs([("HOME", text(&home).as_str()), ("XDG_STATE_HOME", text(&kept).as_str())]);
    let places = Places::for_project(&env, &world.project()).expect("a place for state");
    let session = world.mock.main()[0].session.clone().expect("a session");
    let earlier = |at: Time| at - chrono::Duration::seconds(seconds);
    state::update(&places, &session, |s| s.last_human = s.last_human.map(earlier)).expect("state");
}

/// The module closes an open dialog without an answer when the user is away.
#[test]
fn an_open_question_is_closed_when_the_user_is_away() {
    closed_question(World::build());
}

/// Without the module, a hook closes the dialog.
#[test]
fn without_the_module_a_question_is_closed_too() {
    closed_question(World::build().without_mod().in_tmux());
}

fn closed_question(world: Builder) {
    let mut settings = unattended();
    settings["boundary"]["attended_minutes"] = json!(1);
    let world = world
        .guard_settings(settings)
        .agent(moves(vec![
            step(|_| Reply::bash("echo one").tokens(percent(5.0))),
            step(|_| append("directive", "write the lexer next").tokens(percent(31.0))),
            step(|_| Reply::question("Which parser?", ["Pratt", "LR"]).tokens(percent(31.1))),
            step(|r| {
                let (text, error) = only_result(r);
                assert!(error && text.contains("nobody is here"), "{text}");
                Reply::bash("brain-guard seal").tokens(percent(31.2))
            }),
            step(|_| Reply::text("sealed").tokens(percent(31.3))),
            delivered(),
        ]))
        .start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    tui.wait_screen("the question", |s| s.contains("Which parser?"));
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert!(tui.screen().contains("Which parser?"), "a person may still answer");
    age_last_prompt(&world, 60);
    let last = world.mock.wait_main_within(6, std::time::Duration::from_secs(90));
    assert!(last.said("write the lexer next"));
}
