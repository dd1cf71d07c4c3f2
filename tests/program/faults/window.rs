//! A: the size of the window. Guessed too small, it blocks a nearly empty session; guessed too
//! large, the client compacts first.

use serde_json::json;

use crate::faults::case::{self, Case, OPUS, SONNET};
use crate::faults::tally::{Expect, Tally};
use crate::support::hook::Hook;

pub const CASES: &[Case] = &[
    ("A windows: a 1M session is not taken for 200k", long_is_long),
    ("A windows: a 200k session is not taken for 1M", short_is_short),
    ("A windows: ids of clouds and gateways", ids),
    ("A windows: [1m] named by an event, in any case", long_variant),
    ("A windows: an unknown model is 200k, until more is used", unknown),
    ("A windows: a window that was seen to be larger stays larger", seen_larger),
    ("A windows: /model to a larger window", model_up),
    ("A windows: /model to a smaller window", model_down),
    ("A windows: no model named after /clear", not_named),
    ("A windows: the client reports a smaller one", reported),
    ("A windows: the client reports nonsense", nonsense),
    ("A windows: a setting that is too small", setting),
    ("A windows: switches of the environment that are off", switches_off),
    ("A windows: switches of the environment that are on", switches_on),
    ("A windows: limits of the environment that are no numbers", no_numbers),
    ("A windows: limits of the environment that lower it", lowered),
];

/// A sixth of a 1M window, and more than the limit of a 200k one.
const TOKENS: u64 = 150_000;

/// Asserts that no call is blocked or commented on.
fn is_free(t: &mut Tally, hook: &Hook) {
    for payload in [case::read(hook), case::bash(hook, "ls"), case::batch(hook), case::stop(hook)] {
        t.silence(hook, &payload);
    }
}

fn long_is_long(t: &mut Tally) {
    let hook = t.begun();
    for tokens in [60_000, 120_000, 167_001, 190_000] {
        hook.respond(tokens, OPUS);
        is_free(t, &hook);
    }
}

fn short_is_short(t: &mut Tally) {
    let hook = t.begun();
    hook.respond(10_000, SONNET);
    is_free(t, &hook);
    hook.respond(TOKENS, SONNET);
    t.block(&hook, &case::read(&hook));
    t.block(&hook, &case::bash(&hook, "ls"));
    t.block(&hook, &case::stop(&hook));
}

fn ids(t: &mut Tally) {
    for id in [
        "us.anthropic.claude-opus-5-5-20260801-v1:0",
        "global.anthropic.claude-sonnet-4-5-20250929-v1:0[1m]",
        "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-5-5-v1:0",
        "claude-opus-5-5@20260801",
        "anthropic/claude-opus-5-5",
        "claude-fable-5-2-20260901",
    ] {
        let hook = t.begun();
        hook.respond(TOKENS, id);
        is_free(t, &hook);
    }
}

fn long_variant(t: &mut Tally) {
    for id in
        ["claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5-20250929[1M]", "claude-next[1M]"]
    {
        let hook = Hook::new();
        let start = hook.payload("SessionStart", &json!({"source": "startup", "model": id}));
        t.silence(&hook, &start);
        // The transcript's rows never name the variant.
        let plain = &id[..id.len() - 4];
        for tokens in [20_000, TOKENS] {
            hook.respond(tokens, plain);
            is_free(t, &hook);
        }
    }
}

fn unknown(t: &mut Tally) {
    let hook = t.begun();
    hook.respond(TOKENS, "some-model-of-2030");
    // The client reports 1,000,000 for every unknown id.
    case::snapshot(
        &hook,
        &json!({"tokens": TOKENS, "window": 1_000_000, "model": "some-model-of-2030"}),
    );
    t.block(&hook, &case::read(&hook));
    hook.respond(205_000, "some-model-of-2030");
    t.allow(&hook, &case::read(&hook));
    t.allow(&hook, &case::stop(&hook));
}

/// Usage proves the window's minimum size, which still holds after a compaction or a rewind.
fn seen_larger(t: &mut Tally) {
    for first in [205_000, 320_000] {
        let hook = t.begun();
        hook.respond(first, "some-model-of-2030");
        t.send(
            &hook,
            &case::read(&hook),
            if first > 300_000 { Expect::Block } else { Expect::Allow },
        );
        hook.respond(TOKENS, "some-model-of-2030");
        t.allow(&hook, &case::read(&hook));
        t.allow(&hook, &case::stop(&hook));
        let child = hook.beside("5e550000-0000-4000-8000-000000000002", std::process::id());
        t.allow(&child, &case::start(&child, "clear"));
        for tokens in [20_000, TOKENS] {
            child.respond(tokens, "some-model-of-2030");
            t.allow(&child, &case::read(&child));
        }
        // It says nothing about another model.
        let switch = child.payload("PostModelSwitch", &json!({"new_model": "another-model"}));
        t.silence(&child, &switch);
        child.respond(TOKENS + 1, "another-model");
        t.block(&child, &case::read(&child));
    }
}

/// With the event of a switch, and on clients without one.
fn model_up(t: &mut Tally) {
    for told in [true, false] {
        let hook = t.begun();
        hook.respond(30_000, SONNET);
        case::snapshot(&hook, &json!({"tokens": 30_000, "window": 200_000, "model": SONNET}));
        t.silence(&hook, &case::read(&hook));
        t.silence(&hook, &case::batch(&hook));
        if told {
            t.silence(&hook, &hook.payload("PostModelSwitch", &json!({"new_model": OPUS})));
        }
        hook.respond(TOKENS, OPUS);
        is_free(t, &hook);
    }
}

fn model_down(t: &mut Tally) {
    for told in [true, false] {
        let hook = t.begun();
        case::snapshot(&hook, &json!({"tokens": 50_000, "window": 1_000_000, "model": OPUS}));
        t.silence(&hook, &case::read(&hook));
        t.silence(&hook, &case::batch(&hook));
        if told {
            t.silence(&hook, &hook.payload("PostModelSwitch", &json!({"new_model": SONNET})));
        }
        hook.respond(TOKENS, SONNET);
        t.block(&hook, &case::read(&hook));
    }
}

fn not_named(t: &mut Tally) {
    let hook = Hook::new();
    t.silence(&hook, &case::start(&hook, "clear"));
    for tokens in [20_000, TOKENS] {
        hook.respond(tokens, OPUS);
        is_free(t, &hook);
    }
}

/// The same model has 200k if long windows are off for an account.
fn reported(t: &mut Tally) {
    let hook = t.begun();
    hook.respond(TOKENS, OPUS);
    case::snapshot(&hook, &json!({"tokens": TOKENS, "window": 200_000, "model": OPUS}));
    t.block(&hook, &case::read(&hook));
}

fn nonsense(t: &mut Tally) {
    for window in
        [json!(0), json!(1), json!(-1), json!(8_192), json!("1M"), json!(null), json!(1e300)]
    {
        let hook = t.begun();
        hook.respond(TOKENS, OPUS);
        case::snapshot(&hook, &json!({"tokens": TOKENS, "window": window, "model": OPUS}));
        is_free(t, &hook);
        is_free(t, &hook);
    }
}

fn setting(t: &mut Tally) {
    let hook = t.begun();
    hook.settings(&json!({"context": {"window": 200_000}}));
    hook.respond(230_000, OPUS);
    t.allow(&hook, &case::read(&hook));
    t.allow(&hook, &case::stop(&hook));
}

/// The client accepts only 1, true, yes and on, in any case.
fn switches_off(t: &mut Tally) {
    for value in ["0", "false", "False", "no", "off", " ", "maybe"] {
        let mut hook = t.begun();
        hook.set("CLAUDE_CODE_DISABLE_1M_CONTEXT", value).respond(TOKENS, OPUS);
        is_free(t, &hook);
        hook.set("DISABLE_AUTO_COMPACT", value).respond(195_000, SONNET);
        t.block(&hook, &case::read(&hook));
    }
}

fn switches_on(t: &mut Tally) {
    for value in ["1", "true", "YES", " on "] {
        let mut hook = t.begun();
        hook.set("CLAUDE_CODE_DISABLE_1M_CONTEXT", value).respond(TOKENS, OPUS);
        t.block(&hook, &case::read(&hook));
    }
}

fn no_numbers(t: &mut Tally) {
    let names = ["CLAUDE_CODE_AUTO_COMPACT_WINDOW", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"];
    for (name, value) in names.into_iter().flat_map(|name| {
        let values = ["abc", "-5", "0", "NaN", "inf", "99999999999999999999", "%", "k500"];
        values.map(|value| (name, value))
    }) {
        let mut hook = t.begun();
        hook.set(name, value).respond(TOKENS, OPUS);
        is_free(t, &hook);
    }
}

/// The client then compacts earlier, so the limit is lower.
fn lowered(t: &mut Tally) {
    for (name, value) in [
        ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "200000"),
        ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "200k"),
        // Lower values count as 100,000.
        ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "500"),
        ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "20"),
    ] {
        let mut hook = t.begun();
        hook.set(name, value).respond(TOKENS, OPUS);
        t.block(&hook, &case::read(&hook));
    }
}
