//! The check `carrier` of `doctor` in different terminals and sessions.

use std::fs;

use serde_json::{Value, json};

use super::story::alone;
use super::{moves, step};
use crate::support::mock::Reply;
use crate::support::world::World;

/// A command that runs `brain-guard doctor` and writes its output to a file of the project.
fn doctor_command() -> Vec<String> {
    let binary = env!("CARGO_BIN_EXE_brain-guard");
    // A window manager needs a moment to list a new window.
    let listed = "[ -z \"$DISPLAY\" ] || until xprop -root _NET_CLIENT_LIST | grep -q 0x[1-9a-f]; do :; done";
    let line = format!(
        "{listed}; {binary} doctor --json >asked.part; mv asked.part asked.json; exec sleep 60"
    );
    ["sh", "-c", &line].map(str::to_owned).to_vec()
}

/// What the check saw, by the output of `doctor --json`.
#[track_caller]
fn carrier(text: &str) -> String {
    let report: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let mut all = report["found"].as_array().into_iter().flatten();
    let found = all.find(|found| found["check"] == "carrier").expect("a carrier");
    found["seen"].as_str().expect("text").to_owned()
}

#[track_caller]
fn answer(world: &World) -> String {
    let path = world.project().join("asked.json");
    carrier(&world.wait("answer", || fs::read_to_string(&path).ok()))
}

#[track_caller]
fn assert_says(seen: &str, parts: &[&str]) {
    for part in parts {
        assert!(seen.contains(part), "{part}: {seen}");
    }
}

#[test]
fn in_a_tmux_pane_doctor_names_tmux() {
    let world = World::build().bare().start();
    let tmux = world.tmux(&doctor_command());
    assert_says(&answer(&world), &["tmux would clear this terminal: the client's own pane is %"]);
    tmux.kill();
}

#[test]
fn in_a_plain_xterm_doctor_names_x11() {
    let chord = json!({"context": "Chat", "bindings": {"ctrl+] ctrl+]": "command:clear"}});
    let bound = json!({"bindings": [chord]}).to_string();
    let world = World::build().bare().home_file(".claude/keybindings.json", &bound).start();
    let desktop = world.desktop();
    let xterm = world.xterm(&desktop, "+0+0", &doctor_command());
    let seen = answer(&world);
    assert_says(&seen, &["x11 would clear this terminal: ", "tmux can't: not in a tmux pane"]);
    xterm.kill();
}

#[test]
fn under_wayland_doctor_names_manual() {
    let world = World::build().bare().env("WAYLAND_DISPLAY", "wayland-0").start();
    let desktop = world.desktop();
    let xterm = world.xterm(&desktop, "+0+0", &doctor_command());
    assert_says(&answer(&world), &["manual would clear this terminal: ", "x11 can't: ", "Wayland"]);
    xterm.kill();
}

#[test]
fn over_ssh_doctor_names_manual() {
    let world = World::build().bare().env("SSH_CONNECTION", "10.0.0.1 5 10.0.0.2 22").start();
    let seen = carrier(&world.guard(&["doctor", "--json"]).stdout);
    let why = ["tmux can't: not in a tmux pane", "x11 can't: no X11 display (DISPLAY is not set)"];
    assert_says(&seen, &["manual would clear this terminal: "]);
    assert_says(&seen, &why);
}

#[test]
fn beside_a_session_doctor_uses_the_findings_of_the_hooks() {
    let agent = moves(vec![step(|_| Reply::text("done"))]);
    let world = World::build().without_mod().in_tmux().guard_settings(alone()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Hello");
    world.mock.wait_main(1);
    tui.wait_idle();
    let seen = carrier(&world.guard(&["doctor", "--json"]).stdout);
    assert_says(&seen, &["tmux would clear session ", "mod can't: "]);
}
