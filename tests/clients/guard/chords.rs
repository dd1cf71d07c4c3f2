//! `install` binds chords while a client runs.

use serde_json::Value;

use crate::support::client;
use crate::support::mock::Reply;
use crate::support::world::{Spy, World};

/// Presses a chord until `done`, since the client needs up to 3 seconds to read a changed file.
fn press<T>(world: &World, what: &str, mut press: impl FnMut(), done: impl Fn() -> Option<T>) -> T {
    let mut last = std::time::Instant::now();
    press();
    world.wait(what, || {
        let found = done();
        if found.is_none() && last.elapsed().as_millis() > 1_000 {
            last = std::time::Instant::now();
            press();
        }
        found
    })
}

fn bound_used_and_given_back(version: &str) {
    let world = World::build().client(version).without_mod().spy(Spy::default());
    let world = world.permission_mode("default").agent(|_| Reply::text("said")).start();
    let file = world.home().join(".claude/keybindings.json");
    let tui = world.tui(&[]);
    tui.prompt("hello");
    world.mock.wait_main(1);
    tui.wait_idle();
    let installed = world.guard(&["install", "--no-demo"]);
    assert!(
        installed.stdout.contains("ctrl+] ctrl+f goes on from the notes (new"),
        "{installed:?}"
    );

    let doctor = world.guard(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&doctor.stdout).expect("JSON");
    let mut found = report["found"].as_array().into_iter().flatten();
    let keys = found.find(|f| f["check"] == "keys").expect("a word on the keys");
    assert_eq!(keys["level"], "ok", "{keys}");

    tui.type_text("half a draft");
    let answer = "no notes of an earlier session wait";
    press(
        &world,
        "the answer to resume",
        || tui.keys("C-] C-f"),
        || tui.screen().contains(answer).then_some(()),
    );
    let cleared = || world.hooks().into_iter().find(|h| h["source"] == "clear");
    press(&world, "a clear", || tui.keys("C-] C-]"), cleared);
    tui.wait_screen("the draft", |_| tui.prompt_box().as_deref() == Some("half a draft"));
    assert_eq!(world.mock.main().len(), 1, "neither is a prompt for the model");

    let text = std::fs::read_to_string(&file).expect("bound");
    assert!(world.guard(&["install", "--no-demo"]).stdout.contains("(unchanged, in "));
    assert_eq!(std::fs::read_to_string(&file).expect("bound"), text);
    assert!(world.guard(&["uninstall"]).stdout.contains("taken out of"));
    assert!(!file.exists());
}

#[test]
fn a_running_client_picks_up_installed_chords() {
    bound_used_and_given_back(client::PINNED);
}

#[test]
fn the_oldest_running_client_picks_up_installed_chords() {
    bound_used_and_given_back(client::OLDEST);
}
