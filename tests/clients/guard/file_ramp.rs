//! The tiers by the compaction file's size, in a nearly empty context.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{append, deliveries, moves, only_result, percent, step};
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

/// The word limit of the file.
const FULL: u64 = 200;

/// Appends `entries` different insights of ten words each.
fn insights(name: &str, entries: u32) -> Reply {
    let mut text = String::new();
    for n in 0..entries {
        let words: Vec<String> = (0..10).map(|k| format!("{name}{n}w{k}")).collect();
        let mark = if n == 0 { "" } else { "\n- " };
        let _ = write!(text, "{mark}{}", words.join(" "));
    }
    append("lesson", &text)
}

/// The word count of the file that the last append reported.
fn words(request: &Request) -> u64 {
    let (text, error) = only_result(request);
    let figure =
        text.split(": ").nth(1).and_then(|t| t.split(' ').next()).and_then(|t| t.parse().ok());
    assert!(!error, "{text}");
    figure.unwrap_or_else(|| panic!("no figure: {text}"))
}

fn explained(request: &Request) -> Value {
    let (text, error) = only_result(request);
    assert!(!error, "{text}");
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn explain_call() -> Reply {
    Reply::bash("brain-guard explain --json")
}

#[test]
fn a_full_file_leads_to_a_boundary_and_the_next_session_is_no_shorter() {
    let base = |r: &Request| explained(r)["base_percent"].as_f64().expect("a figure");
    let first_base = std::sync::Arc::new(std::sync::Mutex::new(0.0));
    let kept = std::sync::Arc::clone(&first_base);
    let agent = moves(vec![
        step(|_| explain_call().tokens(percent(17.0))),
        step(move |r| {
            *kept.lock().expect("no panic") = base(r);
            insights("first", 21).tokens(percent(17.1))
        }),
        step(|r| {
            assert!(words(r) > FULL, "{r}");
            Reply::bash("ls").tokens(percent(17.2))
        }),
        step(|r| {
            let (text, error) = only_result(r);
            assert!(
                error
                    && text.contains(
                        "brain-guard blocked Bash: your notes are too long (210 of 200 words)"
                    ),
                "{text}"
            );
            Reply::bash("brain-guard seal; brain-guard seal").tokens(percent(17.3))
        }),
        step(|r| {
            assert!(!only_result(r).1, "{r}");
            Reply::text("Sealed.").tokens(percent(17.4))
        }),
        // In the second session the file starts with at most the seal's target size.
        step(|r| {
            assert_eq!(deliveries(r), 1);
            explain_call().tokens(percent(17.0))
        }),
        step(move |r| {
            let (status, before) = (explained(r), *first_base.lock().expect("no panic"));
            let (base, words) = (base(r), status["file"]["words"].as_u64().expect("a count"));
            assert!((150..=160).contains(&words), "the seal's target is 80 %: {words}");
            assert!(base > 15.0 && base <= before, "the base does not creep: {before} {base}");
            assert_eq!(status["stance"], "coach");
            insights("second", 2).tokens(percent(17.1))
        }),
        step(|r| {
            // The file has grown by 10 % of the limit and is past the tier that blocks reads.
            assert!(words(r) * 100 / FULL >= 85, "{r}");
            Reply::tool("Read", json!({"file_path": "other.txt"})).tokens(percent(17.2))
        }),
        step(|r| {
            assert!(!only_result(r).1, "not before 15 % are written: {r}");
            insights("third", 1).tokens(percent(17.3))
        }),
        step(|r| {
            assert!(words(r) * 100 / FULL >= 90, "{r}");
            Reply::tool("Read", json!({"file_path": "third.txt"})).tokens(percent(17.4))
        }),
        step(|r| {
            let (text, error) = only_result(r);
            assert!(
                error && text.contains("brain-guard blocked Read: your notes are too long"),
                "{text}"
            );
            Reply::bash("brain-guard seal; brain-guard seal").tokens(percent(17.5))
        }),
        step(|r| {
            assert!(!only_result(r).1, "{r}");
            Reply::text("Sealed.").tokens(percent(17.6))
        }),
        step(|r| {
            assert_eq!(deliveries(r), 1);
            explain_call().tokens(percent(17.0))
        }),
        step(move |r| {
            let base = base(r);
            assert!((15.0..17.0).contains(&base), "the base does not creep: {base}");
            Reply::text("going on").tokens(percent(17.1))
        }),
    ]);
    let settings = json!({
        "file": {"words": FULL, "seal_target": 0.8},
        "boundary": {"attended_notice_seconds": 0, "min_interval_seconds": 0},
    });
    let world = World::build().guard_settings(settings);
    let world =
        world.file("other.txt", "other\n").file("third.txt", "third\n").agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(14);
    let mut sessions: Vec<_> = world.mock.main().iter().filter_map(|r| r.session.clone()).collect();
    sessions.dedup();
    assert_eq!(sessions.len(), 3, "two boundaries");
    tui.wait_screen("the answer", |screen| screen.contains("going on"));
}
