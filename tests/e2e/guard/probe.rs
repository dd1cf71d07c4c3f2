//! `carrier probe` and `carrier test` in different terminals and sessions.

use std::fs;

use serde_json::{Value, json};

use super::story::alone;
use super::{moves, step};
use crate::mock::Reply;
use crate::world::World;

/// A command that runs `brain-guard` with these words and writes its output to a file of the
/// project.
fn probe_command(words: &str) -> Vec<String> {
    let binary = env!("CARGO_BIN_EXE_brain-guard");
    // A window manager needs a moment to list a new window.
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

/// The probe's result for one carrier: whether it is usable, and why.
fn carrier_result<'a>(probe: &'a Value, name: &str) -> (bool, &'a str) {
    let all = probe["carriers"].as_array().expect("a list");
    let found = all.iter().find(|c| c["carrier"] == name).expect("every carrier is named");
    (found["usable"] == true, found["why"].as_str().expect("a reason"))
}

#[track_caller]
fn assert_unusable(probe: &Value, name: &str, why: &str) {
    let (usable, said) = carrier_result(probe, name);
    assert!(!usable && said.contains(why), "{name}: {said}");
}

#[test]
fn a_probe_in_a_tmux_pane_chooses_tmux() {
    let world = World::build().bare().start();
    let tmux = world.tmux(&probe_command("carrier probe"));
    let probe = answer(&world);
    assert_eq!((&probe["chosen"], &probe["session"]), (&json!("tmux"), &Value::Null));
    assert!(carrier_result(&probe, "tmux").0);
    assert_unusable(&probe, "x11", "DISPLAY is not set");
    tmux.kill();
    let test = world.tmux(&probe_command("carrier test"));
    let tried = answer(&world);
    assert_eq!(tried["carriers"][0]["passed"], true, "{tried}");
    assert_eq!(test.ask("#{session_windows}"), "1", "the scratch window is gone");
    test.kill();
}

#[test]
fn a_probe_in_a_plain_xterm_chooses_x11() {
    let chord = json!({"context": "Chat", "bindings": {"ctrl+] ctrl+]": "command:clear"}});
    let bound = json!({"bindings": [chord]}).to_string();
    let world = World::build().bare().home_file(".claude/keybindings.json", &bound).start();
    let desktop = world.desktop();
    let xterm = world.xterm(&desktop, "+0+0", &probe_command("carrier probe"));
    let probe = answer(&world);
    assert_eq!(probe["chosen"], "x11", "{probe}");
    assert!(carrier_result(&probe, "x11").0);
    assert_unusable(&probe, "tmux", "not in a tmux pane");
    xterm.kill();
    // Use a new desktop: the first may still list the closing window.
    let desktop = world.desktop();
    let xterm = world.xterm(&desktop, "+0+0", &probe_command("carrier test"));
    let tried = answer(&world);
    assert_eq!(tried["carriers"][1]["passed"], true, "{tried}");
    xterm.kill();
}

#[test]
fn a_probe_under_wayland_chooses_manual() {
    let world = World::build().bare().env("WAYLAND_DISPLAY", "wayland-0").start();
    let desktop = world.desktop();
    let xterm = world.xterm(&desktop, "+0+0", &probe_command("carrier probe"));
    let probe = answer(&world);
    assert_eq!(probe["chosen"], "manual", "{probe}");
    assert_unusable(&probe, "x11", "Wayland");
    xterm.kill();
}

#[test]
fn a_probe_over_ssh_chooses_manual() {
    let world = World::build().bare().env("SSH_CONNECTION", "10.0.0.1 5 10.0.0.2 22").start();
    let output = world.guard(&["carrier", "probe", "--json"]);
    let probe: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(probe["chosen"], "manual", "{probe}");
    assert_unusable(&probe, "tmux", "not in a tmux pane");
    assert_unusable(&probe, "x11", "DISPLAY is not set");
}

#[test]
fn a_probe_in_a_terminal_uses_the_findings_of_the_hooks() {
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
    assert_unusable(&probe, "mod", "not running");
}
