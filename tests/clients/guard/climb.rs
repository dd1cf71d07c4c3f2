//! The cost of the guard in tokens: one long session with it and one without it.

use std::sync::Arc;

use brain_guard::tokens::Counter;
use serde_json::Value;

use super::{Move, append, moves, percent, step, unattended};
use crate::support::mock::{Reply, Request};
use crate::support::world::{Builder, World};

/// Calls from the session's start to the top tier.
const CALLS: usize = 90;

/// Works from 2 % context usage to the top tier, and then makes the moves of `last`.
fn climbs(world: Builder, last: Vec<Move>) -> Vec<Arc<Request>> {
    let call = |n: usize| {
        let at = 2.0 + 29.0 * n as f64 / CALLS as f64;
        step(move |_| Reply::bash(&format!("echo {n}")).tokens(percent(at)))
    };
    let mut script: Vec<Move> = (0..=CALLS).map(call).collect();
    let requests = script.len() + last.len();
    script.extend(last);
    let world = world.agent(moves(script)).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main_within(requests, std::time::Duration::from_secs(120));
    world.mock.main()
}

/// Counts the tokens of all text in a request: system prompt, tools, messages.
fn size(request: &Request) -> u64 {
    fn count(value: &Value, counter: &Counter) -> u64 {
        match value {
            Value::String(text) => counter.count(text),
            Value::Array(all) => all.iter().map(|value| count(value, counter)).sum(),
            Value::Object(all) => all.values().map(|value| count(value, counter)).sum(),
            _ => 0,
        }
    }
    let counter = Counter::default();
    ["system", "tools", "messages"].iter().map(|part| count(&request.body[*part], &counter)).sum()
}

#[test]
fn a_whole_climb_costs_at_most_three_tokens_in_a_thousand() {
    let (top, limit) = (percent(31.0), percent(100.0));
    let done = || step(move |_| Reply::text("done").tokens(top));
    let note = || step(move |_| append("next", "write the lexer").tokens(top));
    let seal = || step(move |_| Reply::bash("brain-guard seal").tokens(top));
    let with = climbs(World::build().guard_settings(unattended()), vec![note(), seal(), done()]);
    let without = climbs(World::build().bare(), vec![note(), seal(), done()]);
    let last = CALLS + 3;
    let (with, without) = (size(&with[last]), size(&without[last]));
    let added = with as f64 - without as f64;
    let share = |of: u64| added * 100.0 / of as f64;
    println!(
        "{added} tokens more with the guard: {:.2} % of the limit, {:.2} % of what was used",
        share(limit),
        share(top)
    );
    assert!(added > 300.0, "it says something: {added}");
    assert!(share(limit) <= 0.3, "{added} tokens of {limit}");
}
