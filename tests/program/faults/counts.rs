//! B: how much is used. Any figure but the main conversation's current size is a false alarm.

use serde_json::{Value, json};

use crate::faults::case::{self, Case, OPUS};
use crate::faults::tally::Tally;
use crate::support::hook::{Hook, LIMIT, percent_in};

pub const CASES: &[Case] = &[
    ("B counts: after /clear nothing of the old session counts", cleared),
    ("B counts: a resumed full session is coached first", resumed),
    ("B counts: a fork has no transcript yet", forked),
    ("B counts: a rewound conversation is what is left of it", rewound),
    ("B counts: sidechain rows", sidechain),
    ("B counts: rows of the client itself (<synthetic>)", synthetic),
    ("B counts: zero, missing and odd usage", zero),
    ("B counts: rows that hold whole requests and totals", totals),
    ("B counts: one response in several rows counts once", blocks_of_one),
    ("B counts: running totals and figures beyond every window", beyond),
];

/// 31 % of the limit.
pub const FULL: u64 = LIMIT * 31 / 100;

fn usage(tokens: u64) -> Value {
    json!({"input_tokens": tokens, "output_tokens": 1})
}

/// Asserts silence for a session at 5 % with this row after its last response.
pub fn ignored(t: &mut Tally, row: &Value) {
    let hook = t.begun();
    case::row(&hook, row);
    for payload in
        [case::read(&hook), case::bash(&hook, "ls"), case::batch(&hook), case::stop(&hook)]
    {
        t.silence(&hook, &payload);
    }
}

fn cleared(t: &mut Tally) {
    let old = t.filled(percent_in("narrow"));
    t.block(&old, &case::read(&old));
    let new = old.beside("5e550000-0000-4000-8000-000000000002", std::process::id());
    t.allow(&new, &case::start(&new, "clear"));
    t.silence(&new, &case::read(&new));
    t.silence(&new, &case::bash(&new, "ls"));
    new.fill(6.0);
    t.silence(&new, &case::read(&new));
    t.silence(&new, &case::stop(&new));
}

fn resumed(t: &mut Tally) {
    let hook = Hook::new();
    hook.fill(60.0);
    let resume =
        json!({"source": "resume", "context_tokens": 580_200, "seconds_since_last_response": 3});
    t.silence(&hook, &hook.payload("SessionStart", &resume));
    for _ in 0..5 {
        t.allow(&hook, &case::read(&hook));
    }
    t.allow(&hook, &case::stop(&hook));
    hook.fill(61.5);
    t.block(&hook, &case::read(&hook));
}

fn forked(t: &mut Tally) {
    let old = t.filled(percent_in("narrow"));
    let new = old.beside("5e550000-0000-4000-8000-000000000002", std::process::id());
    t.allow(&new, &case::start(&new, "fork"));
    t.silence(&new, &case::read(&new));
    t.silence(&new, &case::stop(&new));
    // A fork's rows are copies of the old session's.
    new.fill(percent_in("narrow"));
    t.allow(&new, &case::read(&new));
}

/// Abandoned rows stay in the file; the next prompt has an earlier parent.
fn rewound(t: &mut Tally) {
    let chained = |mut row: Value, uuid: &str, parent: Option<&str>| {
        (row["uuid"], row["parentUuid"]) = (uuid.into(), parent.into());
        row
    };
    let said = |text: &str| json!({"type": "user", "isSidechain": false, "message": {"role": "user", "content": text}});
    let hook = t.begun();
    for row in [
        chained(said("first"), "u1", None),
        chained(case::response("m1", 60_000), "a1", Some("u1")),
        chained(said("second"), "u2", Some("a1")),
        chained(case::response("m2", FULL), "a2", Some("u2")),
        chained(said("second, differently"), "u3", Some("a1")),
    ] {
        case::row(&hook, &row);
    }
    t.silence(&hook, &case::read(&hook));
    t.silence(&hook, &case::bash(&hook, "ls"));
    case::row(&hook, &chained(case::response("m3", FULL), "a3", Some("u3")));
    t.block(&hook, &case::read(&hook));
}

fn sidechain(t: &mut Tally) {
    let mut row = case::response("side", 900_000);
    row["isSidechain"] = true.into();
    ignored(t, &row);
    row["agentId"] = "a57d1be77952c40a2".into();
    ignored(t, &row);
}

fn synthetic(t: &mut Tally) {
    for model in ["<synthetic>", ""] {
        let mut row = case::response("own", 0);
        row["message"]["model"] = model.into();
        row["message"]["usage"] = json!({"input_tokens": 0, "output_tokens": 0});
        row["isApiErrorMessage"] = true.into();
        ignored(t, &row);
    }
    let mut row = case::response("own", 900_000);
    row["message"]["model"] = "<synthetic>".into();
    ignored(t, &row);
}

fn zero(t: &mut Tally) {
    for usage in [
        json!({}),
        json!(null),
        json!([]),
        json!("900000"),
        json!({"input_tokens": 0, "output_tokens": 0}),
        json!({"input_tokens": null}),
        json!({"input_tokens": -900_000}),
        json!({"input_tokens": "900000"}),
        json!({"input_tokens": 9e5}),
        json!({"total_tokens": 900_000, "cumulative_input_tokens": 900_000}),
    ] {
        let mut row = case::response("odd", 7_000);
        row["message"]["usage"] = usage;
        ignored(t, &row);
    }
}

fn totals(t: &mut Tally) {
    for row in [
        json!({"type": "api-request", "usage": usage(900_000), "body": "x".repeat(400_000)}),
        json!({"type": "api-request-blob", "message": {"id": "q", "model": OPUS, "usage": usage(900_000)}}),
        json!({"type": "cost-state", "totalInputTokens": 900_000, "usage": usage(900_000)}),
        json!({"type": "progress", "data": {"message": case::response("sub", 900_000)}}),
        json!({"type": "attachment", "attachment": {"type": "queued_command", "usage": usage(900_000)}}),
        json!({"type": "system", "subtype": "turn_duration", "message": {"usage": usage(900_000)}}),
        json!({"type": "user", "message": {"role": "user", "content": "x", "usage": usage(900_000)},
            "toolUseResult": {"totalTokens": 900_000, "usage": usage(900_000), "content": "y".repeat(600_000)}}),
    ] {
        ignored(t, &row);
    }
}

fn blocks_of_one(t: &mut Tally) {
    let hook = t.begun();
    for _ in 0..20 {
        case::row(&hook, &case::response("one", LIMIT * 15 / 100));
    }
    t.silence(&hook, &case::read(&hook));
    t.silence(&hook, &case::batch(&hook));
}

/// 648 % was once reported, because a sum over all requests was taken for the context.
fn beyond(t: &mut Tally) {
    for tokens in [6_480_000, 99_000_000_000, u64::MAX - 7] {
        let hook = t.begun();
        let mut row = case::response("odd", 7_000);
        row["message"]["usage"] = json!({"input_tokens": tokens, "cache_read_input_tokens": 7});
        case::row(&hook, &row);
        t.allow(&hook, &case::read(&hook));
        t.allow(&hook, &case::stop(&hook));
        let hook = t.begun();
        case::snapshot(
            &hook,
            &json!({"tokens": tokens, "window": 1_000_000, "output": 9, "model": OPUS}),
        );
        t.allow(&hook, &case::read(&hook));
        t.allow(&hook, &case::read(&hook));
    }
}
