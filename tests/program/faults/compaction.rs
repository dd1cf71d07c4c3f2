//! B: the client's own compaction. The last response before it reports tokens that are gone.

use serde_json::{Value, json};

use crate::faults::case::{self, Case, OPUS};
use crate::faults::tally::Tally;
use crate::support::hook::{Hook, LIMIT, percent_in};

pub const CASES: &[Case] = &[
    ("B compaction: what it left counts, not what was before", left),
    ("B compaction: a row that doesn't say what it left", unsaid),
    ("B compaction: a row with a field of another shape", odd),
    ("B compaction: the row comes late", late),
    ("B compaction: its summary is not counted twice", summary),
    ("B compaction: the client may always compact", never_held),
    ("B compaction: the next one finds the guard awake", again),
];

/// A session at 31 % by module and transcript, already denied once.
fn full(t: &mut Tally) -> Hook {
    let hook = t.begun();
    let tokens = LIMIT * 31 / 100;
    case::row(&hook, &case::response("full", tokens));
    case::snapshot(&hook, &json!({"tokens": tokens, "window": 1_000_000, "model": OPUS}));
    t.block(&hook, &case::read(&hook));
    hook
}

/// Sends the events of a compaction, with this row between them.
fn compacted(t: &mut Tally, hook: &Hook, row: Option<&Value>) {
    let before = json!({"trigger": "auto", "custom_instructions": null});
    t.silence(hook, &hook.payload("PreCompact", &before));
    if let Some(row) = row {
        case::row(hook, row);
    }
    t.allow(hook, &hook.payload("SessionStart", &json!({"source": "compact", "model": OPUS})));
    t.silence(
        hook,
        &hook.payload("PostCompact", &json!({"trigger": "auto", "compact_summary": "s"})),
    );
}

/// Asserts that nothing is blocked for longer than any grace period.
fn assert_unblocked(t: &mut Tally, hook: &Hook) {
    for _ in 0..30 {
        t.allow(hook, &case::read(hook));
    }
    t.allow(hook, &case::bash(hook, "ls"));
    t.allow(hook, &case::batch(hook));
    t.allow(hook, &case::stop(hook));
}

fn left(t: &mut Tally) {
    let hook = full(t);
    let row =
        case::boundary(&json!({"trigger": "auto", "preTokens": 300_000, "postTokens": 9_000}));
    compacted(t, &hook, Some(&row));
    t.silence(&hook, &case::read(&hook));
    t.silence(&hook, &case::stop(&hook));
    assert_unblocked(t, &hook);
}

/// `postTokens` is optional in the client's types.
fn unsaid(t: &mut Tally) {
    for metadata in [json!({"trigger": "auto", "preTokens": 300_000}), json!({}), json!(null)] {
        let hook = full(t);
        compacted(t, &hook, Some(&case::boundary(&metadata)));
        assert_unblocked(t, &hook);
    }
}

fn odd(t: &mut Tally) {
    for metadata in [
        json!({"postTokens": "9000"}),
        json!({"postTokens": 9_000.5}),
        json!({"postTokens": -1}),
        json!({"postTokens": null}),
        json!({"postTokens": 900_000_000}),
        json!("compacted"),
        json!([9_000]),
    ] {
        let hook = full(t);
        compacted(t, &hook, Some(&case::boundary(&metadata)));
        assert_unblocked(t, &hook);
    }
    for (field, value) in [
        ("timestamp", json!(1_795_227_749)),
        ("timestamp", json!(null)),
        ("timestamp", json!("yesterday")),
        ("isSidechain", json!(null)),
        ("isSidechain", json!("no")),
        ("message", json!("Conversation compacted")),
    ] {
        let hook = full(t);
        let mut row = case::boundary(&json!({"preTokens": 300_000, "postTokens": 9_000}));
        row[field] = value;
        compacted(t, &hook, Some(&row));
        assert_unblocked(t, &hook);
    }
}

/// Rows are written asynchronously.
fn late(t: &mut Tally) {
    let hook = full(t);
    compacted(t, &hook, None);
    for _ in 0..5 {
        t.allow(&hook, &case::read(&hook));
    }
    case::row(&hook, &case::boundary(&json!({"preTokens": 300_000, "postTokens": 9_000})));
    assert_unblocked(t, &hook);
}

fn summary(t: &mut Tally) {
    let hook = full(t);
    let row = case::boundary(&json!({"preTokens": 300_000, "postTokens": 9_000}));
    compacted(t, &hook, Some(&row));
    let text = "x".repeat(700_000);
    case::row(
        &hook,
        &json!({"type": "user", "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
            "message": {"role": "user", "content": text}}),
    );
    t.silence(&hook, &case::read(&hook));
    t.silence(&hook, &case::stop(&hook));
}

/// Stopping a compaction at the real limit would end the session: "Prompt is too long".
fn never_held(t: &mut Tally) {
    for percent in [percent_in("narrow"), 75.0, 99.9, 103.0] {
        let hook = t.filled(percent);
        for trigger in ["auto", "manual", "auto", "auto", "of-a-later-version"] {
            t.silence(&hook, &hook.payload("PreCompact", &json!({"trigger": trigger})));
        }
    }
}

fn again(t: &mut Tally) {
    let hook = full(t);
    for tokens in [9_000, 12_000] {
        let row = case::boundary(&json!({"preTokens": 300_000, "postTokens": tokens}));
        compacted(t, &hook, Some(&row));
        t.allow(&hook, &case::read(&hook));
        case::row(&hook, &case::response(&format!("after-{tokens}"), LIMIT * 31 / 100));
        t.block(&hook, &case::read(&hook));
    }
}
