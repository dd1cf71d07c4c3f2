//! Negative controls: with a defense switched off, the tally must find the fault.

use std::process::Command;

use serde_json::json;

use crate::faults::case::{self, Case, OPUS};
use crate::faults::tally::{Expect, Tally};
use crate::support::hook::percent_in;

pub const CASES: &[Case] = &[
    ("control: a 1M session told to be 200k is counted as a false block", false_block),
    ("control: shadow mode is counted as a missed block", missed_block),
    ("control: what hangs, fails, or says more than JSON is found", contract),
];

/// Plays a case that must fail; returns its tally.
fn played(t: &mut Tally, case: fn(&mut Tally)) -> Tally {
    let mut inner = Tally::of_control();
    let well = inner.play(&("control", case));
    t.check(!well, "a case that must fail passed");
    inner
}

fn false_block(t: &mut Tally) {
    let inner = played(t, |t| {
        let hook = t.begun();
        hook.settings(&json!({"context": {"window": 200_000}}));
        hook.respond(150_000, OPUS);
        t.allow(&hook, &case::read(&hook));
        t.allow(&hook, &case::bash(&hook, "ls"));
        t.allow(&hook, &case::stop(&hook));
    });
    t.check(inner.false_blocks == 3, format!("{} false blocks counted", inner.false_blocks));
}

fn missed_block(t: &mut Tally) {
    let inner = played(t, |t| {
        let hook = t.filled(percent_in("narrow"));
        hook.settings(&json!({"mode": "shadow"}));
        t.block(&hook, &case::read(&hook));
    });
    t.check(inner.missed_blocks == 1, format!("{} missed blocks counted", inner.missed_blocks));
}

fn contract(t: &mut Tally) {
    let busy = "i=0; while [ $i -lt 3000000 ]; do i=$((i+1)); done";
    for script in ["exit 1", "echo words", "echo words >&2", "exec sleep 600", busy] {
        let mut inner = Tally::of_control();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        inner.run(command, b"", Expect::Allow);
        t.check(inner.found(), format!("{script:?} passed"));
    }
}
