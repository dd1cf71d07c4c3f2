//! Two sessions in one project at the same time.

use serde_json::{Value, json};

use super::{climb_and_seal, deliveries, moves, only_result, percent, step, unattended};
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

#[test]
fn a_boundary_does_not_affect_the_other_session() {
    let mut alpha = climb_and_seal();
    alpha.push(step(|_| Reply::text("I end my turn.").tokens(percent(31.2))));
    alpha.push(step(|r| {
        assert_eq!(deliveries(r), 1);
        Reply::text("alpha goes on").tokens(percent(6.0))
    }));
    let beta = vec![
        step(|_| Reply::text("beta has begun").tokens(percent(6.0))),
        step(|_| Reply::tool("Read", json!({"file_path": "README.md"})).tokens(percent(7.0))),
        step(|r| {
            assert!(!only_result(r).1, "{r}");
            Reply::bash("brain-guard status --json").tokens(percent(8.0))
        }),
        step(|r| {
            let (text, _) = only_result(r);
            let status: Value =
                serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
            assert_eq!(
                (&status["stance"], &status["file"]["words"]),
                (&json!("free"), &json!(0)),
                "{status}"
            );
            assert_eq!(status["session"].as_str(), r.session.as_deref());
            assert_eq!((deliveries(r), super::heard(r)), (0, 0));
            Reply::text("beta is done").tokens(percent(8.5))
        }),
    ];
    let (mut alpha, mut beta) = (moves(alpha), moves(beta));
    let agent = move |r: &Request| if r.said("the beta work") { beta(r) } else { alpha(r) };
    let world = World::build().guard_settings(unattended()).agent(agent).start();
    let (one, two) = (world.tui(&[]), world.tui(&[]));
    two.prompt("Do the beta work");
    two.wait_screen("beta's beginning", |screen| screen.contains("beta has begun"));
    two.wait_idle();
    one.prompt("Do the alpha work");
    let last = world.mock.wait_main(6);
    two.prompt("Go on");
    let asked = world.mock.wait_main(9);
    assert!(asked.said("the beta work"));
    one.wait_screen("alpha's answer", |screen| screen.contains("alpha goes on"));
    two.wait_screen("beta's answer", |screen| screen.contains("beta is done"));
    let latest = world.guard(&["status"]);
    assert!(latest.status.success() && latest.stderr.contains("--session"), "{latest:?}");
    let refused = world.guard(&["override", "5m"]);
    assert!(!refused.status.success() && refused.stderr.contains("--session"), "{refused:?}");
    let status = |session: Option<&str>| -> Value {
        let id = session.expect("the client names its session");
        for offer in [&latest, &refused] {
            assert!(offer.stderr.contains(&id[..8]), "both are offered: {}", offer.stderr);
        }
        let output = world.guard(&["status", "--json", "--session", id]);
        serde_json::from_str(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
    };
    let (first, second) = (status(last.session.as_deref()), status(asked.session.as_deref()));
    assert_ne!(first["job"], second["job"]);
    assert_eq!((&first["stance"], &second["stance"]), (&json!("free"), &json!("free")));
    assert_eq!((&first["boundary"], &second["boundary"]), (&json!(null), &json!(null)));
    let text =
        |status: &Value| std::fs::read_to_string(status["file"]["path"].as_str().expect("a path"));
    assert!(text(&first).is_ok_and(|t| t.contains("write the lexer next")));
    assert!(text(&second).is_err(), "the other has written nothing");
}

/// Both windows of a project count down; each hears only the person in it.
#[test]
fn a_notice_in_one_window_is_answered_there_only() {
    let one_window = |words: &'static str| {
        let mut agent = climb_and_seal();
        agent.push(step(|_| Reply::text("A or B?").tokens(percent(31.2))));
        agent.push(step(move |r| {
            assert_eq!(deliveries(r), 1, "{r}");
            assert!(r.said(words), "{r}");
            Reply::text("going on").tokens(percent(6.0))
        }));
        moves(agent)
    };
    let (mut alpha, mut beta) = (one_window("Build alpha"), one_window("Build beta"));
    let agent = move |r: &Request| if r.said("Build beta") { beta(r) } else { alpha(r) };
    let boundary = json!({"attended_notice_seconds": 120, "min_interval_seconds": 0});
    let world = World::build().guard_settings(json!({"boundary": boundary})).agent(agent).start();
    let (one, two) = (world.tui(&[]), world.tui(&[]));
    one.prompt("Build alpha");
    world.mock.wait_main(4);
    two.prompt("Build beta");
    for tui in [&one, &two] {
        tui.wait_screen("the notice", |s| s.contains("restarts from its notes in"));
    }
    std::thread::sleep(std::time::Duration::from_secs(1));
    one.type_text("1");
    one.wait_screen("its strip", |s| s.contains("does not restart: you paused brain-guard"));
    assert!(two.screen().contains("restarts from its notes in"), "{}", two.screen());
    two.type_text("2");
    let last = world.mock.wait_main(9);
    assert!(last.said("Build beta"), "{last}");
    two.wait_idle();
    assert_eq!(world.mock.main().len(), 9, "the other waits");
    one.type_text("2");
    let last = world.mock.wait_main(10);
    assert!(last.said("Build alpha"), "{last}");
}
