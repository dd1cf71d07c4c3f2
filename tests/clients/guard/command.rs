//! The user's own program as the carrier, including its failures.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::story::{
    all_went, end, logged, note, said, seal, sealed, wait_acknowledged, with_chords,
};
use super::{moves, percent, step};
use crate::support::client::Terminal;
use crate::support::mock::Reply;
use crate::support::world::World;

/// Settings with a program as the carrier, for an unattended session.
fn by(program: &str, step_seconds: u64) -> Value {
    json!({"boundary": {
        "carrier": "command", "command": [program], "attended_minutes": 0,
        "min_interval_seconds": 0, "step_seconds": step_seconds,
    }})
}

fn program(world: &World, script: &str) {
    let path = world.project().join("carrier.sh");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("own file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("own file");
}

#[test]
fn a_user_program_clears_by_the_chord() {
    let agent = moves(vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| Reply::bash("echo two").tokens(percent(31.0))),
        note("the lexer drops the last token"),
        seal(),
        end(),
        step(|_| Reply::bash("echo goes-on").tokens(percent(6.0))),
        step(|_| Reply::text("going on").tokens(percent(6.5))),
    ]);
    let world = World::build().without_mod().in_tmux().guard_settings(by("./carrier.sh", 20));
    let world = world.agent(agent).start();
    with_chords(&world);
    program(&world, "cat >plan.json; tmux send-keys -t \"$TMUX_PANE\" 'C-]' 'C-]'");
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    let first = world.mock.wait_main(6);
    assert_ne!(first.session, world.mock.main()[0].session, "a fresh session");
    let file = sealed(&world).pop().expect("a sealed file");
    assert_eq!(said(&first, &file), 1, "{first}");
    world.mock.wait_main(7);
    wait_acknowledged(&world);
    let plan = fs::read_to_string(world.project().join("plan.json")).expect("the plan");
    let plan: Value = serde_json::from_str(&plan).expect("JSON");
    assert_eq!(
        (&plan["action"], &plan["chord"]["keys"]),
        (&json!("clear"), &json!("ctrl+] ctrl+]"))
    );
    assert_eq!(plan["client"]["pid"], tui.pid());
}

#[test]
fn a_run_continues_when_its_boundary_fails() {
    let agent = moves(vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| Reply::bash("echo two").tokens(percent(31.0))),
        note("the lexer drops the last token"),
        seal(),
        end(),
        step(|r| {
            let told = r.last_user_text();
            assert!(told.contains("could not clear this session"), "{told}");
            Reply::bash("echo goes-on").tokens(percent(31.5))
        }),
        step(|r| {
            all_went(r);
            Reply::text("going on").tokens(percent(31.6))
        }),
    ]);
    let world = World::build().without_mod().guard_settings(by("./carrier.sh", 20));
    let world = world.agent(agent).start();
    program(&world, "exit 3");
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    let last = world.mock.wait_main(7);
    assert_eq!(last.session, world.mock.main()[0].session, "the same session");
    tui.wait_idle();
    let gave_up = logged(&world).iter().any(|e| e["kind"] == "note" && e["event"] == "rewake");
    assert!(gave_up, "{:?}", logged(&world));
}

#[test]
fn the_documented_program_drives_gnu_screen() {
    let agent = moves(vec![
        step(|_| Reply::bash("echo one").tokens(percent(5.0))),
        step(|_| Reply::bash("echo two").tokens(percent(31.0))),
        note("the lexer drops the last token"),
        seal(),
        end(),
        step(|_| Reply::text("going on").tokens(percent(6.0))),
    ]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/carrier-screen.sh");
    let sockets = tempfile::tempdir().expect("a temporary folder");
    fs::set_permissions(sockets.path(), fs::Permissions::from_mode(0o700)).expect("own folder");
    let world = World::build()
        .without_mod()
        .guard_settings(by(script, 20))
        .env("SCREENDIR", sockets.path().to_str().expect("a plain path"))
        .agent(agent)
        .start();
    with_chords(&world);
    let around = ["env", "-u", "TMUX", "-u", "TMUX_PANE", "screen", "-U", "-c", "/dev/null"];
    let program: Vec<String> =
        around.iter().map(|&word| word.to_owned()).chain(world.program(&[])).collect();
    let tui = world.tui_in(Terminal::Tmux(world.tmux(&program)));
    tui.prompt("Build the lexer");
    world.mock.wait_main(2);
    tui.type_text("half a thought");
    let first = world.mock.wait_main(6);
    assert_ne!(first.session, world.mock.main()[0].session, "a fresh session");
    let file = sealed(&world).pop().expect("a sealed file");
    assert_eq!(said(&first, &file), 1, "{first}");
    wait_acknowledged(&world);
    tui.wait_idle();
    assert_eq!(tui.prompt_box().as_deref(), Some("half a thought"));
}
