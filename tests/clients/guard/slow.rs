//! Boundaries through the pane with slow hooks, of other plugins or of our own on a busy machine.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::moves;
use super::story::{logged, with_chords};
use super::tmux::{arrived, crossing, settings};
use crate::support::world::{Builder, World};

fn builder() -> Builder {
    let builder = World::build().without_mod().in_tmux().guard_settings(settings(&[]));
    builder.agent(moves(crossing()))
}

/// A world whose main hook takes this long at the start of a cleared session.
fn slow_start(seconds: u32) -> (tempfile::TempDir, World) {
    let dir = tempfile::tempdir().expect("folder");
    let slow = dir.path().join("slow");
    let program = env!("CARGO_BIN_EXE_brain-guard");
    let script = format!(
        r#"#!/bin/sh
[ "$1 $#" = 'hook 1' ] || exec {program} "$@"
input=$(cat)
case $input in *'"source":"clear"'*) sleep {seconds} ;; esac
printf %s "$input" | {program} "$@"
"#
    );
    std::fs::write(&slow, script).expect("written");
    std::fs::set_permissions(&slow, std::fs::Permissions::from_mode(0o755)).expect("mode");
    let world = builder().guard_binary(&slow).start();
    (dir, world)
}

/// Asserts that the new session gets its notes after exactly one clear.
#[track_caller]
fn assert_single_clear(world: &World, chords: bool) {
    if chords {
        with_chords(world);
    }
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    arrived(world, &tui);
    let acted = logged(world).iter().filter(|e| e["kind"] == "carrier-acted").count();
    assert_eq!(acted, 1, "{:?}", logged(world));
}

#[test]
fn a_clear_delayed_by_another_plugin_is_not_repeated() {
    let hook = json!({"type": "command", "command": "sleep 6", "timeout": 20});
    let builder = builder().client_setting("hooks", json!({"SessionEnd": [{"hooks": [hook]}]}));
    let world = builder.env("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", "20000").start();
    assert_single_clear(&world, true);
}

#[test]
fn a_slow_start_costs_no_second_clear() {
    let (_dir, world) = slow_start(4);
    assert_single_clear(&world, true);
}

#[test]
fn the_first_turn_waits_for_a_slow_start() {
    let (_dir, world) = slow_start(4);
    assert_single_clear(&world, false);
}

#[test]
fn a_start_hook_that_times_out_loses_no_notes() {
    let (_dir, world) = slow_start(30);
    assert_single_clear(&world, true);
}
