//! `carrier probe` and `carrier test` in the surroundings that a client may have.

use std::fs;

use serde_json::{Value, json};

use super::story::alone;
use super::{moves, step};
use crate::mock::Reply;
use crate::world::World;

/// The command that runs `brain-guard` with these words and leaves its output in a file of the project.
fn asking(words: &str) -> Vec<String> {
    let binary = env!("CARGO_BIN_EXE_brain-guard");
    // A window manager takes a moment to list a window that has just come up.
    let listed = "[ -z \"$DISPLAY\" ] || until xprop -root _NET_CLIENT_LIST | grep -q 0x[1-9a-f]; do :; done";
    let line = format!(
        "{listed}; {binary} {words} --json >asked.part; mv asked.part asked.json; exec sleep 60"
    );
    ["sh", "-c", &line].map(str::to_owned).to_vec()
}

#[track_caller]
fn answer(world: &World) -> Value {
    let path = world.project().join("asked.json");
    let text = world.wait("answer", || fs::read_to_string(&path).ok());
    fs::remove_file(&path).expect("own file");
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// What a probe says of one carrier: usable, and why.
fn of<'a>(probe: &'a Value, name: &str) -> (bool, &'a str) {
    let all = probe["carriers"].as_array().expect("a list");
    let found = all.iter().find(|c| c["carrier"] == name).expect("every carrier is named");
    (found["usable"] == true, found["why"].as_str().expect("a reason"))
}

#[track_caller]
fn shut(probe: &Value, name: &str, why: &str) {
    let (usable, said) = of(probe, name);
    assert!(!usable && said.contains(why), "{name}: {said}");
}

#[test]
fn a_probe_in_a_tmux_pane() {
    let world = World::build().bare().start();
    let tmux = world.tmux(&asking("carrier probe"));
    let probe = answer(&world);
    assert_eq!((&probe["chosen"], &probe["session"]), (&json!("tmux"), &Value::Null));
    assert!(of(&probe, "tmux").0);
    shut(&probe, "x11", "DISPLAY is not set");
    tmux.kill();
    let test = world.tmux(&asking("carrier test"));
    let tried = answer(&world);
    assert_eq!(tried["carriers"][0]["passed"], true, "{tried}");
    assert_eq!(test.ask("#{session_windows}"), "1", "the scratch window is gone");
    test.kill();
}

#[test]
fn a_probe_in_a_plain_xterm() {
    let world = World::build().bare().start();
    let desktop = world.desktop();
    let xterm = world.xterm(&desktop, "+0+0", &asking("carrier probe"));
    let probe = answer(&world);
    assert_eq!(probe["chosen"], "x11", "{probe}");
    assert!(of(&probe, "x11").0);
    shut(&probe, "tmux", "not in a tmux pane");
    xterm.kill();
    // A desktop of its own: the one above may still list the window that is closing.
    let desktop = world.desktop();
    let xterm = world.xterm(&desktop, "+0+0", &asking("carrier test"));
    let tried = answer(&world);
    assert_eq!(tried["carriers"][1]["passed"], true, "{tried}");
    xterm.kill();
}

#[test]
fn a_probe_under_wayland() {
    let world = World::build().bare().env("WAYLAND_DISPLAY", "wayland-0").start();
    let desktop = world.desktop();
    let xterm = world.xterm(&desktop, "+0+0", &asking("carrier probe"));
    let probe = answer(&world);
    assert_eq!(probe["chosen"], "manual", "{probe}");
    shut(&probe, "x11", "Wayland");
    xterm.kill();
}

#[test]
fn a_probe_as_over_ssh() {
    let world = World::build().bare().env("SSH_CONNECTION", "10.0.0.1 5 10.0.0.2 22").start();
    let output = world.guard(&["carrier", "probe", "--json"]);
    let probe: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(probe["chosen"], "manual", "{probe}");
    shut(&probe, "tmux", "not in a tmux pane");
    shut(&probe, "x11", "DISPLAY is not set");
}

#[test]
fn a_terminal_believes_the_sessions_own_hooks() {
    let agent = moves(vec![step(|_| Reply::text("done"))]);
    let world = World::build().without_mod().in_tmux().guard_settings(alone()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Hello");
    world.mock.wait_main(1);
    tui.wait_idle();
    let output = world.guard(&["carrier", "probe", "--json"]);
    let probe: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(probe["chosen"], "tmux", "{probe}");
    assert!(probe["session"].is_string());
    shut(&probe, "mod", "not at work");
}
