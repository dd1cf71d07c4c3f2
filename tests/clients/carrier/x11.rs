//! The X11 carrier with the real client in an xterm.

use std::time::Duration;

use base::env::Env;
use carrier::terminal::{Stroke, Terminal as _};
use carrier::x11::{Options, Touched, Window, find};
use guard::files::state;
use serde_json::json;

use crate::support::client::{Terminal, Tui};
use crate::support::mock::{Gate, Reply};
use crate::support::world::{Builder, Spy, World};
use crate::x11::harness::press;

const CHORD: [Stroke; 2] = [Stroke::ctrl(']'), Stroke::ctrl(']')];
const SUBMIT: [Stroke; 2] = [Stroke::ctrl('x'), Stroke::ctrl('s')];

fn world(builder: Builder) -> World {
    let bindings = json!({"bindings": [
        {"context": "Chat", "bindings": {"ctrl+] ctrl+]": "command:clear"}}
    ]});
    builder.home_file(".claude/keybindings.json", &bindings.to_string()).spy(Spy::default()).start()
}

/// Starts the client in an xterm on its own desktop, and the carrier for it.
fn desk(world: &World) -> (Tui, Window) {
    let desktop = world.desktop();
    let xterm = world.xterm(&desktop, "+0+0", &world.program(&[]));
    desktop.activate(xterm.window());
    let tui = world.tui_in(Terminal::Xterm(xterm));
    let of_terminal = format!("/proc/{0}/task/{0}/children", tui.pid());
    let children = std::fs::read_to_string(of_terminal).expect("the terminal's children");
    let pid = children.split_whitespace().next().expect("the client").parse().expect("a number");
    let client = state::client(pid).expect("the client runs");
    let place = find(&Env::from_pairs([("DISPLAY", desktop.name())]), client).expect("its window");
    let options = Options { idle: Duration::from_secs(600), touched: Touched::default() };
    let mut window = Window::open(place, client, options).expect("its window");
    wait_idle(world, &mut window, true);
    (tui, window)
}

#[track_caller]
fn wait_box(tui: &Tui, wanted: &str) {
    tui.wait_screen(&format!("box {wanted:?}"), |_| tui.prompt_box().as_deref() == Some(wanted));
}

#[track_caller]
fn wait_idle(world: &World, window: &mut Window, idle: bool) {
    world.wait(&format!("idle: {idle}"), || (window.idle() == Ok(idle)).then_some(()));
}

#[test]
fn the_chord_clears_and_the_draft_stays() {
    let world = world(World::build().bare());
    let (tui, mut window) = desk(&world);
    tui.type_text("half a draft");
    wait_box(&tui, "half a draft");
    assert_eq!(press(&mut window, &CHORD, &mut || true), Ok(true));
    world.wait_hook("SessionStart", |hook| hook["source"] == "clear");
    wait_box(&tui, "half a draft");
    assert!(world.mock.main().is_empty());
}

#[test]
fn no_keys_go_into_a_dialog() {
    let agent = |n| match n {
        1 => Reply::tool("Write", json!({"file_path": "made.txt", "content": "x"})),
        _ => Reply::text("ok"),
    };
    let built = World::build().bare().permission_mode("default");
    let world = world(built.agent(move |request| agent(request.n)));
    let (tui, mut window) = desk(&world);
    tui.prompt("go");
    world.wait_hook("PermissionRequest", |hook| hook["tool_name"] == "Write");
    tui.wait_screen("dialog", |screen| screen.contains("Do you want to create made.txt?"));
    for strokes in [&CHORD[..], &SUBMIT[..]] {
        assert_eq!(press(&mut window, strokes, &mut || true), Ok(true));
    }
    assert!(tui.screen().contains("Do you want to create made.txt?"));
    assert!(!world.project().join("made.txt").exists());
    assert!(!world.hooks().iter().any(|hook| hook["source"] == "clear"));
}

#[test]
fn a_running_turn_is_not_idle() {
    let gate = Gate::default();
    let held = gate.clone();
    let built = World::build().bare();
    let world = world(built.agent(move |_| Reply::text("begun\n\nnot yet ended\n").hang(&held)));
    let (tui, mut window) = desk(&world);
    tui.prompt("go");
    world.mock.wait_main(1);
    wait_idle(&world, &mut window, false);
    gate.open();
    wait_idle(&world, &mut window, true);
}
