//! I: where one session ends and the next begins. Missing, late, duplicate or renamed events.

use serde_json::{Value, json};

use crate::faults::case::{self, Case};
use crate::faults::scene::{self, after_clear};
use crate::faults::tally::{Expect, Tally};
use crate::support::hook::percent_in;

pub const CASES: &[Case] = &[
    ("I source: a session that begins in any way is free", any_source),
    ("I source: none, unknown, or no word", odd_sources),
    ("I source: it goes on full, by resume, fork or compaction", goes_on_full),
    ("I clear: no SessionStart comes for it", no_start),
    ("I clear: the id stays the same", same_id),
    ("I clear: SessionEnd comes late", end_comes_late),
    ("I clear: the user's, twenty times", many_clears),
    ("I clear: the start comes twice", start_twice),
    ("I compaction: the notes stay, and the session is free", compacted),
    ("I rewind: the conversation before the clear comes back", rewound_over_the_clear),
    ("I rewind: within a session", rewound),
];

/// The session that starts from `source` after one at 31 %, and reads 4 %.
fn any_source(t: &mut Tally) {
    for source in ["startup", "clear", "resume", "fork"] {
        let old = t.filled(percent_in("narrow"));
        t.block(&old, &case::read(&old));
        let next = after_clear(&old, 2);
        t.allow(&next, &case::start(&next, source));
        t.silence(&next, &case::bash(&next, "ls"));
        next.fill(4.0);
        t.silence(&next, &case::read(&next));
        t.silence(&next, &case::stop(&next));
    }
}

fn odd_sources(t: &mut Tally) {
    for source in [json!(null), json!("rewind"), json!(""), json!(7), json!(["clear"]), json!({})] {
        let old = t.filled(percent_in("narrow"));
        t.block(&old, &case::read(&old));
        let next = after_clear(&old, 2);
        t.silence(&next, &next.payload("SessionStart", &json!({"source": source})));
        next.fill(percent_in("narrow"));
        t.allow(&next, &case::read(&next));
    }
    let hook = t.begun();
    t.silence(&hook, &hook.payload("SessionStart", &json!({})));
}

fn goes_on_full(t: &mut Tally) {
    for source in ["resume", "fork", "compact"] {
        let hook = t.filled(percent_in("narrow"));
        t.block(&hook, &case::read(&hook));
        t.allow(&hook, &case::start(&hook, source));
        for _ in 0..20 {
            t.allow(&hook, &case::read(&hook));
        }
        // After the grace period it is a full session like any other.
        hook.fill(33.0);
        t.block(&hook, &case::read(&hook));
    }
}

fn no_start(t: &mut Tally) {
    let (old, _) = scene::sealed(t);
    let (empty, full) = (after_clear(&old, 2), after_clear(&old, 3));
    full.fill(percent_in("narrow"));
    let said =
        [case::read(&full), case::batch(&full), case::stop(&full)].map(|p| t.allow(&full, &p));
    t.check(!said.iter().any(scene::carries), "the file came without a start");
    empty.fill(4.0);
    t.silence(&empty, &case::read(&empty));
    t.silence(&empty, &case::stop(&empty));
    // It was seen to grow since then.
    empty.fill(percent_in("narrow"));
    t.block(&empty, &case::read(&empty));
    scene::way_out(t, &empty);
}

fn same_id(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    std::fs::remove_file(&hook.transcript).expect("removed");
    t.allow(&hook, &case::start(&hook, "clear"));
    t.allow(&hook, &case::read(&hook));
    hook.fill(4.0);
    t.silence(&hook, &case::read(&hook));
    t.silence(&hook, &case::bash(&hook, "ls"));
}

fn end(hook: &crate::support::hook::Hook, reason: &str) -> Value {
    hook.payload("SessionEnd", &json!({"reason": reason}))
}

fn end_comes_late(t: &mut Tally) {
    let (old, _) = scene::sealed(t);
    let next = after_clear(&old, 2);
    let began = t.note(&next, &case::start(&next, "clear"));
    t.check(scene::carries(&began), "what was sealed did not come");
    t.silence(&old, &end(&old, "clear"));
    next.fill(4.0);
    t.silence(&next, &case::bash(&next, "ls"));
    for reason in ["clear", "logout", "", "of a later version"] {
        t.silence(&next, &end(&next, reason));
    }
}

fn many_clears(t: &mut Tally) {
    let mut old = t.begun();
    let keep = old.beside(&old.session, std::process::id());
    for number in 2..22 {
        old.fill(percent_in("narrow"));
        t.send(&old, &case::read(&old), Expect::Block);
        t.silence(&old, &end(&old, "clear"));
        let next = keep.beside(&scene::id(number), std::process::id());
        let said = t.allow(&next, &case::start(&next, "clear"));
        t.check(said.stdout.len() < 4_000, "bearings that grow");
        next.fill(4.0);
        t.silence(&next, &case::read(&next));
        old.session.clone_from(&next.session);
        old.transcript.clone_from(&next.transcript);
    }
}

fn start_twice(t: &mut Tally) {
    let (old, _) = scene::sealed(t);
    let next = after_clear(&old, 2);
    let first = t.note(&next, &case::start(&next, "clear"));
    let again = t.allow(&next, &case::start(&next, "clear"));
    t.check(scene::carries(&first) && !scene::carries(&again), "not once");
    next.fill(4.0);
    t.silence(&next, &case::read(&next));
}

fn compacted(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    hook.agent(&format!("brain-guard append --kind next '{}'", scene::NOTE));
    t.allow(
        &hook,
        &hook.payload("PreCompact", &json!({"trigger": "auto", "custom_instructions": null})),
    );
    let notes = std::fs::read_to_string(hook.file()).unwrap_or_default();
    t.check(notes.contains(scene::NOTE), "the notes are gone");
    let now = base::clock::now().to_rfc3339();
    case::row(
        &hook,
        &json!({"type": "system", "subtype": "compact_boundary", "isSidechain": false,
        "timestamp": now, "compactMetadata": {"trigger": "auto", "preTokens": 968_000, "postTokens": 20_000}}),
    );
    t.allow(&hook, &case::start(&hook, "compact"));
    t.allow(
        &hook,
        &hook.payload("PostCompact", &json!({"trigger": "auto", "compact_summary": "s"})),
    );
    t.allow(&hook, &case::read(&hook));
    t.allow(&hook, &case::bash(&hook, "ls"));
}

fn rewound_over_the_clear(t: &mut Tally) {
    let (old, _) = scene::sealed(t);
    let next = after_clear(&old, 2);
    t.note(&next, &case::start(&next, "clear"));
    next.fill(4.0);
    t.silence(&next, &case::read(&next));
    // The old id returns, still full: it has its way out, and no finished boundary holds it.
    let call = t.block(&old, &case::bash(&old, "ls"));
    t.check(!call.reason().contains("End your turn now"), "held by a boundary that is over");
    scene::way_out(t, &old);
    t.silence(&next, &case::read(&next));
}

fn rewound(t: &mut Tally) {
    let hook = t.filled(percent_in("narrow"));
    t.block(&hook, &case::read(&hook));
    // Rewound rows stay in the file; the last response counts.
    case::row(&hook, &case::response("msg_again", 60_000));
    t.silence(&hook, &case::read(&hook));
    t.silence(&hook, &case::stop(&hook));
}
