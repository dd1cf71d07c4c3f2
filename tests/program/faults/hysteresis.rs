//! M: a figure that wavers at a tier's edge must not cause new notes; a drop must lift the block.

use serde_json::json;

use crate::faults::case::{self, Case};
use crate::faults::tally::Tally;
use crate::support::hook::{Answer, Hook, percent_in};

pub const CASES: &[Case] = &[
    ("M hysteresis: wavering at the first tier is told once", wavers_below),
    ("M hysteresis: wavering at a blocking tier keeps it", wavers_above),
    ("M hysteresis: a tier is left a hundredth below it", left),
    ("M hysteresis: a fall is believed at once", falls),
    ("M hysteresis: after a compaction all begins anew", anew),
    ("M hysteresis: an estimate too high holds only until the next response", estimate),
    ("M hysteresis: the same figure again and again says nothing more", same),
];

fn notes<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> usize {
    answers.into_iter().filter(|a| !a.note().is_empty()).count()
}

fn wavers_below(t: &mut Tally) {
    let hook = t.begun();
    let mut said = Vec::new();
    for _ in 0..8 {
        for percent in [20.1, 19.9, 19.2] {
            hook.fill(percent);
            t.silence(&hook, &case::read(&hook));
            said.push(t.allow(&hook, &case::batch(&hook)));
        }
    }
    // One note on entry; another may follow after 25 calls.
    t.check(notes(&said) == 1, format!("{} notes", notes(&said)));
}

fn wavers_above(t: &mut Tally) {
    let hook = t.filled(25.1);
    let mut said = Vec::new();
    for _ in 0..8 {
        for percent in [25.1, 24.9, 24.2] {
            hook.fill(percent);
            said.push(t.block(&hook, &case::read(&hook)));
            t.allow(&hook, &case::bash(&hook, "ls"));
        }
    }
    let users = said.iter().filter(|a| !a.user().is_empty()).count();
    t.check(users == 0, format!("the user was told {users} times"));
}

fn left(t: &mut Tally) {
    for (up, held, down) in [(25.5, 24.1, 23.9), (30.5, 29.1, 28.9)] {
        let hook = t.filled(up);
        let asked = if up > 30.0 { case::bash(&hook, "ls") } else { case::read(&hook) };
        t.block(&hook, &asked);
        hook.fill(held);
        t.block(&hook, &asked);
        hook.fill(down);
        t.allow(&hook, &asked);
        hook.fill(held);
        t.allow(&hook, &asked);
    }
}

fn falls(t: &mut Tally) {
    for percent in [percent_in("block-reads"), percent_in("narrow"), 80.0] {
        let hook = t.filled(percent);
        t.block(&hook, &case::read(&hook));
        hook.fill(6.0);
        for payload in
            [case::read(&hook), case::bash(&hook, "ls"), case::batch(&hook), case::stop(&hook)]
        {
            t.silence(&hook, &payload);
        }
    }
}

fn anew(t: &mut Tally) {
    let hook = t.filled(percent_in("coach"));
    t.note(&hook, &case::batch(&hook));
    case::row(&hook, &case::boundary(&json!({"preTokens": 200_000, "postTokens": 9_000})));
    t.allow(&hook, &case::start(&hook, "compact"));
    t.silence(&hook, &case::read(&hook));
    t.silence(&hook, &case::batch(&hook));
    hook.fill(percent_in("coach"));
    t.silence(&hook, &case::read(&hook));
    t.note(&hook, &case::batch(&hook));
}

fn estimate(t: &mut Tally) {
    let hook = t.filled(18.0);
    for _ in 0..15 {
        case::row(&hook, &case::result(30_000));
    }
    t.block(&hook, &case::read(&hook));
    hook.fill(24.5);
    // The block ends one percent below the tier: at 23.9.
    t.block(&hook, &case::read(&hook));
    hook.fill(23.9);
    t.allow(&hook, &case::read(&hook));
}

fn same(t: &mut Tally) {
    let hook: Hook = t.filled(percent_in("coach"));
    let said: Vec<Answer> = (0..10).map(|_| t.allow(&hook, &case::batch(&hook))).collect();
    t.check(notes(&said) == 1, format!("{} notes", notes(&said)));
}
