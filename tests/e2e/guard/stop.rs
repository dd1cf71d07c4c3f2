//! The end of a turn at the top of the ramp without a seal.

use serde_json::json;

use super::{append, asked, deliveries, moves, percent, step, unattended};
use crate::mock::Reply;
use crate::world::{Builder, World};

/// Ends its turn three times; the first two are refused. `first` is its move at narrow.
fn stubborn(first: fn() -> Reply) -> Builder {
    let refused = |n: u32| {
        step(move |r| {
            let told = r.last_user_text();
            assert!(
                told.contains("Stop hook feedback") && told.contains("are not sealed"),
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
        step(|r| {
            assert_eq!(deliveries(r), 1, "only a boundary brings a further request");
            Reply::text("going on").tokens(percent(6.0))
        }),
    ]))
}

fn nobody_there() -> serde_json::Value {
    let mut settings = unattended();
    settings["boundary"]["attended_minutes"] = json!(0);
    settings
}

#[test]
fn unattended_the_guard_seals_the_third_time() {
    let world = stubborn(|| append("directive", "write the lexer next"))
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
fn what_nobody_wrote_crosses_nothing() {
    let world = stubborn(|| Reply::bash("ls")).guard_settings(nobody_there()).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(5);
    tui.wait_idle();
    let status = asked(&world, "status");
    assert_eq!((&status["tier"], &status["boundary"]), (&json!("narrow"), &json!(null)));
    let capped = status["capped"].as_str().expect("nothing is blocked without a way out");
    assert!(capped.contains("could not be carried over"), "{capped}");
    assert_eq!(status["session_id"].as_str(), world.mock.main()[0].session.as_deref());
    assert_eq!(world.mock.main().len(), 5);
}

#[test]
fn attended_the_third_end_waits_for_the_human() {
    let world = stubborn(|| append("directive", "write the lexer next"))
        .guard_settings(unattended())
        .start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(5);
    tui.wait_idle();
    let status = asked(&world, "status");
    assert_eq!((&status["attended"], &status["boundary"]), (&json!(true), &json!(null)));
    assert_eq!(status["session_id"].as_str(), world.mock.main()[0].session.as_deref());
    assert_eq!(world.mock.main().len(), 5);
}
