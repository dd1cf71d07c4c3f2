//! B: the transcript's end. It lags behind the conversation, is torn, and may hold more than text.

use serde_json::{Value, json};

use crate::faults::case::{self, Case, OPUS};
use crate::faults::counts::{FULL, ignored};
use crate::faults::tally::Tally;
use crate::support::hook::percent_in;

pub const CASES: &[Case] = &[
    ("B tail: a 450 KB image row ends the transcript", image),
    ("B tail: images and documents of megabytes", documents),
    ("B tail: a batch that brought images", batch_of_images),
    ("B tail: a row torn in half", torn),
    ("B tail: rows without end between the response and the end", far),
    ("B lag: the transcript is a response behind the module", lags),
    ("B lag: the module's figure is empty, torn or odd", snapshots),
    ("B lag: a client inside a client has no module and no transcript", nested),
    ("B estimate: what came since is weighed, not guessed high", estimate),
];

/// A media block in a message.
fn blob(kind: &str, bytes: usize) -> Value {
    let media = if kind == "image" { "image/png" } else { "application/pdf" };
    json!({"type": kind, "source": {"type": "base64", "media_type": media, "data": "A".repeat(bytes)}})
}

fn with_blobs(blobs: &[Value]) -> Value {
    json!({"type": "user", "isSidechain": false, "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": blobs}]}})
}

fn image(t: &mut Tally) {
    let mut row = with_blobs(&[blob("image", 450_000)]);
    row["toolUseResult"] = json!({"type": "image", "file": {"base64": "A".repeat(450_000)}});
    ignored(t, &row);
    let hook = t.filled(percent_in("narrow"));
    case::row(&hook, &row);
    t.block(&hook, &case::read(&hook));
}

fn documents(t: &mut Tally) {
    ignored(t, &with_blobs(&[blob("document", 4_000_000)]));
    ignored(t, &with_blobs(&vec![blob("image", 300_000); 8]));
    // Files that a user drags in are in the prompt's row.
    ignored(
        t,
        &json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "text", "text": "look"}, blob("document", 2_000_000)]}}),
    );
}

fn batch_of_images(t: &mut Tally) {
    for kind in ["image", "document"] {
        let hook = t.begun();
        let calls = json!([{"tool_name": "Read", "tool_input": {"file_path": "/a.png"},
            "tool_use_id": "toolu_1", "tool_response": [blob(kind, 2_000_000)]}]);
        t.silence(&hook, &hook.payload("PostToolBatch", &json!({"tool_calls": calls})));
        t.silence(&hook, &case::read(&hook));
    }
}

fn torn(t: &mut Tally) {
    let whole = case::response("torn", FULL).to_string();
    for cut in [1, 9, whole.len() / 2, whole.len() - 1] {
        let hook = t.begun();
        case::raw_row(&hook, &whole.as_bytes()[..cut]);
        t.silence(&hook, &case::read(&hook));
        // The next row is appended to the torn line.
        case::row(&hook, &case::result(9));
        t.silence(&hook, &case::read(&hook));
        case::row(&hook, &case::response("next", FULL));
        t.block(&hook, &case::read(&hook));
    }
    // Only the newline is missing, so the row counts.
    let hook = t.begun();
    case::raw_row(&hook, whole.as_bytes());
    t.block(&hook, &case::read(&hook));
}

fn far(t: &mut Tally) {
    let request = json!({"type": "api-request", "body": "x".repeat(1_000_000)});
    for percent in [5.0, percent_in("narrow")] {
        let hook = t.filled(percent);
        for _ in 0..8 {
            case::row(&hook, &request);
        }
        if percent >= percent_in("narrow") {
            t.block(&hook, &case::read(&hook));
        } else {
            t.silence(&hook, &case::read(&hook));
        }
    }
}

fn lags(t: &mut Tally) {
    let hook = t.begun();
    case::snapshot(&hook, &json!({"tokens": FULL, "window": 1_000_000, "model": OPUS}));
    t.block(&hook, &case::read(&hook));
    // The row of that response is not there yet, and neither is a snapshot.
    t.block(&hook, &case::read(&hook));
    hook.fill(5.0);
    t.allow(&hook, &case::read(&hook));
    t.allow(&hook, &case::stop(&hook));
}

fn snapshots(t: &mut Tally) {
    for odd in [
        json!({}),
        json!(null),
        json!([]),
        json!("full"),
        json!({"tokens": null, "window": 1_000_000}),
        json!({"tokens": "900000"}),
        json!({"tokens": -1}),
        json!({"tokens": 9e5}),
        json!({"tokens": 50_000, "output": "many"}),
        json!({"percent": 99}),
    ] {
        let hook = t.begun();
        case::snapshot(&hook, &odd);
        t.silence(&hook, &case::read(&hook));
    }
    // A folder in its place, and a snapshot of another call.
    let hook = t.begun();
    std::fs::create_dir_all(hook.places().snapshots().join("toolu_1.json")).expect("folder");
    t.silence(&hook, &case::read(&hook));
    case::snapshot(&t.begun(), &json!({"tokens": FULL, "window": 1_000_000, "model": OPUS}));
    t.silence(&hook, &case::read(&hook));
}

/// A nested client inherits the outer client's environment.
fn nested(t: &mut Tally) {
    let outer = t.filled(percent_in("narrow"));
    t.block(&outer, &case::read(&outer));
    let mut inner = outer.beside("5e550000-0000-4000-8000-000000000009", 1);
    inner.set("CLAUDE_CODE_SESSION_ID", &outer.session);
    inner.set("BRAIN_GUARD_MOD", &format!("{}:{}", env!("CARGO_PKG_VERSION"), std::process::id()));
    inner.set("CLAUDE_CODE_SESSION_ATTENDED", "0");
    t.silence(&inner, &case::start(&inner, "startup"));
    t.silence(&inner, &case::read(&inner));
    t.silence(&inner, &case::stop(&inner));
}

fn estimate(t: &mut Tally) {
    let hook = t.filled(15.0);
    // Twenty results of the client's maximum size. 600,000 bytes of digits would be 24 % by word
    // length, but are under 20 % by token.
    for _ in 0..4 {
        case::row(&hook, &case::result(30_000));
    }
    t.silence(&hook, &case::read(&hook));
    for _ in 0..20 {
        case::row(&hook, &case::result(30_000));
    }
    t.block(&hook, &case::bash(&hook, "ls"));
    // The next response has the real figure.
    hook.fill(16.0);
    t.allow(&hook, &case::bash(&hook, "ls"));
}
