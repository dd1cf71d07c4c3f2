//! The position of the tiers: the limit by model, environment and observation, a lowered
//! compaction threshold, and a context that is full from the start.

use serde_json::json;

use super::story::{result, said, status, watched};
use super::{Move, moves, percent, step};
use crate::support::mock::{Gate, Reply, Request};
use crate::support::process::DEADLINE;
use crate::support::world::{Builder, World};

/// Calls one tool of each band at `tokens`; the ids end in `round`.
fn probe(round: usize, tokens: u64) -> Reply {
    let file = format!("made-{round}.txt");
    Reply::bash("true")
        .tokens(tokens)
        .and_tool_id(
            &format!("read-{round}"),
            "Read",
            json!({"file_path": format!("doc-{round}.txt")}),
        )
        .and_tool_id(&format!("write-{round}"), "Write", json!({"file_path": file, "content": "x"}))
}

/// Asserts which bands of this round's probe were denied.
#[track_caller]
fn denied(request: &Request, round: usize, read: bool, write: bool) {
    let (text, error) = result(request, &format!("read-{round}"));
    assert_eq!(error, read, "read {round}: {text}");
    let (text, error) = result(request, &format!("write-{round}"));
    assert_eq!(error, write, "write {round}: {text}");
}

/// The moves through the three tiers, given in percent of `limit`.
fn climb(limit: u64, tiers: [f64; 3]) -> Vec<Move> {
    let at = move |percent: f64| (limit as f64 * percent / 100.0) as u64;
    let [coach, reads, narrow] = tiers;
    vec![
        step(move |_| probe(1, at(coach - 1.0))),
        step(move |r| {
            denied(r, 1, false, false);
            assert_eq!(said(r, "your user installed"), 0, "silent below the first tier");
            probe(2, at(coach + 1.0))
        }),
        step(move |r| {
            denied(r, 2, false, false);
            // For some models, the client puts the note into a user message.
            assert_eq!(said(r, "a plugin your user installed"), 1, "one note");
            probe(3, at(reads + 1.0))
        }),
        step(move |r| {
            denied(r, 3, true, false);
            probe(4, at(narrow + 1.0))
        }),
        step(move |r| {
            denied(r, 4, true, true);
            Reply::text("stopped here").tokens(at(narrow + 1.0))
        }),
    ]
}

/// Plays a first turn with few tokens, then the tiers; returns the final status.
fn climbs(world: Builder, arguments: &[&str], limit: u64, tiers: [f64; 3]) -> serde_json::Value {
    let mut script = vec![step(|_| Reply::bash("echo one").tokens(8_000))];
    script.extend(climb(limit, tiers));
    let mut world = world.guard_settings(watched()).agent(moves(script));
    for n in 1..5 {
        world = world.file(&format!("doc-{n}.txt"), "text\n");
    }
    let world = world.start();
    let tui = world.tui(arguments);
    tui.prompt("Build the parser");
    world.mock.wait_main(6);
    let status = status(&world);
    assert_eq!(status["context"]["limit"], json!(limit), "{status}");
    status
}

#[test]
fn tiers_follow_a_short_window_of_the_environment() {
    let world = World::build().env("CLAUDE_CODE_DISABLE_1M_CONTEXT", "1");
    let status = climbs(world, &[], 167_000, [50.0, 60.0, 70.0]);
    assert_eq!(status["context"]["window"], 200_000);
}

#[test]
fn tiers_follow_a_short_window_of_the_model() {
    let model = ["--model", "claude-sonnet-4-5-20250929"];
    let status = climbs(World::build(), &model, 167_000, [50.0, 60.0, 70.0]);
    assert_eq!(
        (&status["context"]["window"], &status["context"]["window_certain"]),
        (&json!(200_000), &json!(true))
    );
}

#[test]
fn tiers_follow_a_lowered_compaction_threshold() {
    let world = World::build().env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "400000");
    climbs(world, &[], 367_000, [50.0, 60.0, 70.0]);
}

#[test]
fn an_unknown_model_counts_as_small_until_usage_exceeds_it() {
    let gate = Gate::default();
    let held = gate.clone();
    let script = vec![
        step(|_| probe(1, 8_000)),
        step(|r| {
            denied(r, 1, false, false);
            assert_eq!(said(r, "your user installed"), 0);
            probe(2, 118_000)
        }),
        step(move |r| {
            assert!(held.wait(DEADLINE), "the status was not read");
            denied(r, 2, true, true);
            assert!(result(r, "write-2").0.contains("of 167k)"), "{}", result(r, "write-2").0);
            probe(3, 250_000)
        }),
        step(|r| {
            denied(r, 3, true, false);
            assert!(result(r, "read-3").0.contains("of 967k)"), "{}", result(r, "read-3").0);
            Reply::text("stopped here").tokens(250_000)
        }),
    ];
    let mut world = World::build().guard_settings(watched()).agent(moves(script));
    for n in 1..4 {
        world = world.file(&format!("doc-{n}.txt"), "text\n");
    }
    let world = world.start();
    let tui = world.tui(&["--model", "something"]);
    tui.prompt("Build the parser");
    world.mock.wait_main(3);
    let before = status(&world)["context"].take();
    gate.open();
    assert_eq!(
        (&before["window"], &before["window_certain"]),
        (&json!(200_000), &json!(false)),
        "{before}"
    );
    world.mock.wait_main(4);
    tui.wait_idle();
    let after = status(&world)["context"].take();
    assert_eq!(
        (&after["window"], &after["window_source"]),
        (&json!(1_000_000), &json!("observed")),
        "{after}"
    );
}

#[test]
fn a_context_full_from_the_start_raises_the_tiers() {
    // The first reading of 40 % is 25 % above a normal start, so all tiers move up by 25 %.
    let mut script = vec![step(|_| Reply::bash("echo one").tokens(percent(40.0)))];
    script.extend(climb(967_000, [45.0, 50.0, 55.0]));
    let mut world = World::build().guard_settings(watched()).agent(moves(script));
    for n in 1..5 {
        world = world.file(&format!("doc-{n}.txt"), "text\n");
    }
    let world = world.start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(6);
}

#[test]
fn a_huge_first_prompt_is_neither_blocked_nor_a_base() {
    let settings = json!({"headless": "boundary", "boundary": {"min_interval_seconds": 0}});
    let script = vec![
        step(|_| probe(1, percent(40.0))),
        step(|r| {
            denied(r, 1, false, false);
            assert_eq!(said(r, "already this full"), 1);
            probe(2, percent(40.5))
        }),
        step(|r| {
            denied(r, 2, false, false);
            probe(3, percent(41.5))
        }),
        step(|r| {
            denied(r, 3, true, true);
            Reply::text("stopped here").tokens(percent(41.6))
        }),
    ];
    let mut world = World::build().guard_settings(settings).agent(moves(script));
    for n in 1..4 {
        world = world.file(&format!("doc-{n}.txt"), "text\n");
    }
    let world = world.start();
    let mut run = world.stream(&[]);
    run.say(&"many words of a log file\n".repeat(42_000));
    world.mock.wait_main(4);
}

/// The module gets the client's limit from the client, even when it is lowered in ways that hooks
/// cannot or can hardly see.
#[test]
fn the_module_reads_a_lowered_limit() {
    climbs(World::build(), &["--autocompact", "150k"], 117_000, [50.0, 60.0, 70.0]);
    let settings = r#"{"autoCompactWindow": 160000}"#;
    climbs(World::build(), &["--settings", settings], 127_000, [50.0, 60.0, 70.0]);
    let world = World::build().file(".claude/settings.local.json", settings);
    climbs(world, &[], 127_000, [50.0, 60.0, 70.0]);
}

/// Without the module, the hooks read the command line and the settings files. A reading needs a
/// response row, which the client may write after the response's first call: the calls take a while.
#[test]
fn hooks_read_a_lowered_limit_without_the_module() {
    let text = r#"{"autoCompactWindow": 160000}"#;
    let in_project = World::build().file(".claude/settings.json", text);
    let flag = ["--autocompact", "150k"];
    for (world, arguments, limit, source) in [
        (World::build(), &flag[..], 117_000, "--autocompact"),
        (in_project, &[], 127_000, "autoCompactWindow in the project's .claude/settings.json"),
        (
            World::build(),
            &["--settings", text],
            127_000,
            "autoCompactWindow in the settings that --settings names",
        ),
    ] {
        let script = vec![
            step(|_| Reply::bash("sleep 1; echo one").tokens(8_000)),
            step(move |_| Reply::bash("sleep 1; echo two").tokens(limit * 72 / 100)),
            step(move |_| Reply::bash("echo three").tokens(limit * 72 / 100)),
            step(move |r| {
                let (text, error) = super::only_result(r);
                assert!(error && text.contains("brain-guard blocked"), "{source}: {text}");
                Reply::text("stopped here").tokens(limit * 72 / 100)
            }),
        ];
        let world = world.without_mod().in_tmux().guard_settings(watched()).agent(moves(script));
        let world = world.start();
        let tui = world.tui(arguments);
        tui.prompt("Build the parser");
        world.mock.wait_main(4);
        let context = status(&world)["context"].clone();
        assert_eq!((&context["limit"], &context["limit_source"]), (&json!(limit), &json!(source)));
    }
}

#[test]
fn the_strip_shows_the_first_turns_figures_by_the_clients_limit() {
    let world = World::build()
        .agent(moves(vec![
            step(|_| Reply::bash("echo one").tokens(percent(5.0))),
            step(|_| Reply::bash("echo two").tokens(percent(12.0))),
            step(|_| Reply::text("first turn done").tokens(percent(17.0))),
        ]))
        .start();
    let tui = world.tui(&[]);
    tui.prompt("Go");
    tui.wait_screen("the turn's end", |s| s.contains("first turn done"));
    tui.wait_screen("the strip", |s| s.contains(" 17 %   notes") && s.contains("nothing blocked"));
    tui.prompt("/clear");
    tui.wait_screen("the next session's strip", |s| s.contains(" 0 %   notes"));
}
