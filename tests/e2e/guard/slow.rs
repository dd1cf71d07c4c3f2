//! Boundaries through the pane while hooks are slow: other plugins', or our own on
//! a machine under load.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::moves;
use super::story::{logged, with_chords};
use super::tmux::{arrived, crossing, settings};
use crate::world::{Builder, World};

fn builder() -> Builder {
    let builder = World::build().without_mod().in_tmux().guard_settings(settings(&[]));
    builder.agent(moves(crossing()))
}

/// The main hook of a cleared session's start takes so long.
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

/// The new session gets its notes, by one clear.
#[track_caller]
fn crosses(world: &World, chords: bool) {
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
fn a_clear_that_another_plugins_hook_holds_up_is_one_clear() {
    let hook = json!({"type": "command", "command": "sleep 6", "timeout": 20});
    let builder = builder().client_setting("hooks", json!({"SessionEnd": [{"hooks": [hook]}]}));
    let world = builder.env("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", "20000").start();
    crosses(&world, true);
}

#[test]
fn a_slow_start_costs_no_second_clear() {
    let (_dir, world) = slow_start(4);
    crosses(&world, true);
}

#[test]
fn a_slow_start_is_waited_for_by_what_starts_the_turn() {
    let (_dir, world) = slow_start(4);
    crosses(&world, false);
}

#[test]
fn a_start_that_is_ended_for_its_time_costs_no_memory() {
    let (_dir, world) = slow_start(30);
    crosses(&world, true);
}
