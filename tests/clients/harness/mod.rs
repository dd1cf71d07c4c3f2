//! Tests of the harness itself, on which every other test relies.

mod api;
mod options;
mod screen;

use serde_json::json;

use crate::support::mock::{Reply, Request};

/// An agent with two Bash calls and then a text.
fn two_calls(request: &Request) -> Reply {
    match request.n {
        1 => Reply::bash("echo first-output").and_thinking("a thought"),
        2 => Reply::bash("echo second-output"),
        _ => Reply::text("all done"),
    }
}

/// Makes `count` Bash calls in one message, with ids that count from 1.
fn many_calls(count: usize) -> Reply {
    (1..=count).fold(Reply::text("many at once"), |reply, k| {
        let input = json!({"command": format!("echo out-{k}"), "description": "step"});
        reply.and_tool_id(&format!("toolu_many_{k}"), "Bash", input)
    })
}
