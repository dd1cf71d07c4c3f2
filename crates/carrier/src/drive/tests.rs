use super::*;
use base::paths::Places;
use guard::boundary::Client;
use guard::files::boundary;
use serde_json::{from_value, json};

/// A token of the plugin's module at a step.
pub(crate) fn token(step: Step) -> Token {
    let at = "2026-01-01T00:00:00Z";
    from_value(json!({
        "id": "t", "job": "j", "parent": "old", "step": step, "carrier": "mod", "version": 1,
        "sealed": "/s/v0001.md", "created": at, "since": at, "cut": false,
        "unanswered": 0,
    }))
    .unwrap()
}

fn stage(token: &Token) -> (tempfile::TempDir, Env, Places) {
    let dir = tempfile::tempdir().unwrap();
    let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
    let places = Places::for_project(&env, dir.path()).unwrap();
    boundary::create(&places, token).unwrap();
    state::update(&places, "old", |s| s.token = Some(token.id.clone())).unwrap();
    (dir, env, places)
}

fn clearing() -> Token {
    let client = state::client(std::process::id());
    Token { client, carrier: Carrier::Tmux, ..token(Step::Clearing) }
}

fn after(places: &Places) -> (Step, Option<EndReason>) {
    let token = boundary::load(places, "t").unwrap().unwrap();
    (token.step, token.why)
}

#[test]
fn a_session_that_another_boundary_cleared_gets_no_keys_of_this_one() {
    let token = clearing();
    let Client { pid, start } = token.client.unwrap();
    for (carried, ends) in [("t", false), ("another", true)] {
        let (dir, env, places) = stage(&token);
        state::take_seat(&places, Client { pid, start }, "new").unwrap();
        state::update(&places, "new", |s| {
            (s.parent, s.token) = (Some("old".into()), Some(carried.into()));
        })
        .unwrap();
        let now = clock::now();
        let mut drive = Drive::new(&env, dir.path(), "t");
        drive.pressed = Some((ClearMethod::Chord, now));
        drive.tick(&token, now);
        let left = (Step::Failed, Some(EndReason::Left));
        assert_eq!(after(&places) == left, ends, "{carried}: {:?}", after(&places));
    }
}

#[test]
fn keys_without_effect_are_looked_after_with_a_terminal_that_was_let_go() {
    let token = clearing();
    let (dir, env, places) = stage(&token);
    let now = clock::now();
    let mut drive = Drive::new(&env, dir.path(), "t");
    drive.pressed = Some((ClearMethod::Chord, now - TimeDelta::milliseconds(SETTLE_MS)));
    drive.tick(&token, now);
    let gone = (Step::Failed, Some("the client's terminal is not known".into()));
    assert_eq!(after(&places), gone, "not left to the deadline");
}

#[test]
fn patience_is_for_an_idle_client_only() {
    let token = clearing();
    let (dir, env, places) = stage(&token);
    let now = clock::now();
    state::update(&places, "old", |s| s.turn = Some(now)).unwrap();
    let mut drive = Drive::new(&env, dir.path(), "t");
    drive.refused = Some((now - TimeDelta::hours(1), "a dialog is open".into()));
    drive.tick(&token, now);
    assert_eq!(drive.refused, None);
    assert_eq!(after(&places).0, Step::Clearing);
}
