//! Boundaries with slow hooks, of other plugins or of our own on a busy machine.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::story::{logged, with_chords};
use super::tmux::{arrived, crossing, settings};
use super::{append, deliveries, moves, only_result, percent, step};
use crate::support::mock::Reply;
use crate::support::world::{Builder, World};

fn builder() -> Builder {
    let builder = World::build().without_mod().in_tmux().guard_settings(settings(&[]));
    builder.agent(moves(crossing()))
}

/// A world whose main hook takes this long at the start of a cleared session.
fn slow_start(seconds: u32) -> (tempfile::TempDir, World) {
    let (dir, slow) = slow_program(&format!(
        r#"case $input in *'"source":"clear"'*) sleep {seconds} ;; esac
printf %s "$input" | "$program" "$@""#
    ));
    (dir, builder().guard_binary(&slow).start())
}

/// A program whose main hook runs this, with the event in `$input`.
fn slow_program(script: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    program_with(&format!(
        r#"[ "$1 $#" = 'hook 1' ] || exec "$program" "$@"
input=$(cat)
{script}"#
    ))
}

/// A program that runs this instead of ours, which is `$program`.
fn program_with(script: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().expect("folder");
    let slow = dir.path().join("slow");
    let program = env!("CARGO_BIN_EXE_brain-guard");
    let script = format!("#!/bin/sh\nprogram={program}\n{script}\n");
    std::fs::write(&slow, script).expect("written");
    std::fs::set_permissions(&slow, std::fs::Permissions::from_mode(0o755)).expect("mode");
    (dir, slow)
}

/// The client ignores a hook after 5 s and runs the command itself, which the hook has executed.
#[test]
fn a_verb_of_a_slow_hook_happens_once() {
    let (_dir, slow) = slow_program(
        r#"case $input in *PreToolUse*'brain-guard append'*)
    answer=$(printf %s "$input" | "$program" "$@"); sleep 6; printf %s "$answer" ;;
*) printf %s "$input" | "$program" "$@" ;; esac"#,
    );
    let agent = vec![
        append_step("the lexer drops CRLF"),
        step(|r| {
            let (text, error) = only_result(r);
            assert!(!error && text.starts_with("already in "), "{text}");
            Reply::text("noted").tokens(percent(5.1))
        }),
    ];
    let world = World::build().guard_settings(settings(&[])).agent(moves(agent));
    let world = world.guard_binary(&slow).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    world.mock.wait_main_within(2, std::time::Duration::from_secs(60));
    tui.wait_idle();
    let notes = notes(&world);
    assert_eq!(notes.matches("the lexer drops CRLF").count(), 1, "{notes}");
}

/// Another plugin that rewrites every command makes the shell run the verb, after the hook did.
#[test]
fn a_verb_that_another_hook_rewrites_happens_once() {
    let rewrite = r#"python3 -c 'import json, sys
c = json.load(sys.stdin)["tool_input"]
c["command"] = "echo rewritten; " + c["command"]
print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": c}}))'"#;
    let hook = json!({"type": "command", "command": rewrite});
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]});
    let agent = vec![
        append_step("the lexer drops CRLF"),
        step(|r| {
            let (text, error) = only_result(r);
            assert!(!error && text.contains("Open Threads"), "{text}");
            Reply::bash("brain-guard seal --no-clear").tokens(percent(5.1))
        }),
        step(|r| {
            let (text, error) = only_result(r);
            assert!(!error && text.contains("sealed as version 1"), "{text}");
            Reply::text("noted").tokens(percent(5.2))
        }),
    ];
    let world = World::build().guard_settings(settings(&[])).agent(moves(agent));
    let world = world.client_setting("hooks", hooks).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    world.mock.wait_main(3);
    tui.wait_idle();
    let notes = notes(&world);
    assert_eq!(notes.matches("the lexer drops CRLF").count(), 1, "{notes}");
}

/// Escape while the hook executes a verb.
#[test]
fn an_interrupted_verb_happens_at_most_once() {
    let (_dir, slow) = slow_program(
        r#"case $input in *PreToolUse*'brain-guard append'*) touch "$HOME/begun"; sleep 1 ;; esac
printf %s "$input" | "$program" "$@""#,
    );
    let agent = vec![
        append_step("the lexer drops CRLF"),
        append_step("the lexer drops CRLF"),
        step(|r| {
            let all = r.tool_results();
            let last = all.last().expect("a result");
            assert!(!last.is_error && last.text.contains("Open Threads"), "{all:?}");
            Reply::text("noted").tokens(percent(5.1))
        }),
    ];
    let world = World::build().guard_settings(settings(&[])).agent(moves(agent));
    let world = world.guard_binary(&slow).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    world.wait("the hook", || world.home().join("begun").exists().then_some(()));
    tui.keys("Escape");
    tui.wait_screen("the interruption", |s| s.contains("Interrupted"));
    tui.prompt("Go on");
    world.mock.wait_main(3);
    tui.wait_idle();
    let notes = notes(&world);
    assert_eq!(notes.matches("the lexer drops CRLF").count(), 1, "{notes}");
}

fn append_step(text: &'static str) -> super::Move {
    step(move |_| append("thread", text).tokens(percent(5.0)))
}

/// A background command of the old session ends right after the clear. The client prompts the new
/// session about it, and the hook adds the notes, just before the module submits them.
#[test]
fn notes_that_came_with_another_prompt_are_not_submitted_again() {
    let (_dir, slow) = program_with(
        r#"case "$1 $2" in 'hook ' | 'mod step') ;; *) exec "$program" "$@" ;; esac
input=$(cat)
answer=$(printf %s "$input" | "$program" "$@")
case $input in
*'"event":"cleared"'*) touch "$HOME/go"; sleep 1 ;;
*UserPromptSubmit*task-notification*) sleep 2 ;;
esac
printf %s "$answer""#,
    );
    let agent = vec![
        step(|_| {
            let command = "until test -f $HOME/go; do sleep 0.02; done";
            let input =
                json!({"command": command, "description": "wait", "run_in_background": true});
            Reply::tool("Bash", input).tokens(percent(5.0))
        }),
        step(|_| append("next", "the lexer drops CRLF").tokens(percent(31.0))),
        step(|_| Reply::bash("brain-guard seal").tokens(percent(31.1))),
        step(|_| Reply::text("sealed").tokens(percent(31.2))),
        step(|r| {
            assert_eq!(deliveries(r), 1, "{r}");
            assert!(r.said("<task-notification>"), "{r}");
            Reply::text("going on").tokens(percent(6.0))
        }),
        step(|r| {
            assert_eq!(deliveries(r), 1, "{r}");
            Reply::text("the lexer is done").tokens(percent(6.1))
        }),
    ];
    let world = World::build().guard_settings(settings(&[])).agent(moves(agent));
    let world = world.guard_binary(&slow).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the lexer");
    world.mock.wait_main_within(5, std::time::Duration::from_secs(30));
    tui.wait_screen("the answer", |s| s.contains("going on"));
    tui.wait_idle();
    tui.wait_screen("the prompt dropped", |s| s.contains("has its notes already"));
    assert!(!tui.screen().contains("compaction file"), "{}", tui.screen());
    assert_eq!(world.mock.main().len(), 5);
    tui.prompt("And now?");
    world.mock.wait_main(6);
    tui.wait_idle();
}

/// The live notes of the only job.
fn notes(world: &World) -> String {
    let shown = world.guard(&["status", "--json"]);
    let status: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
    std::fs::read_to_string(status["file"]["path"].as_str().expect("a path")).expect("notes")
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
