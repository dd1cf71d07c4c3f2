//! The harness tried on itself: what every other test takes for granted.

mod api;
mod options;
mod screen;

use serde_json::json;

use crate::mock::{Reply, Request};

/// Two calls of Bash, then a text.
fn two_calls(request: &Request) -> Reply {
    match request.n {
        1 => Reply::bash("echo first-output").and_thinking("a thought"),
        2 => Reply::bash("echo second-output"),
        _ => Reply::text("all done"),
    }
}

/// `count` calls of Bash in one message, with ids that count from 1.
fn many_calls(count: usize) -> Reply {
    (1..=count).fold(Reply::text("many at once"), |reply, k| {
        let input = json!({"command": format!("echo out-{k}"), "description": "step"});
        reply.and_tool_id(&format!("toolu_many_{k}"), "Bash", input)
    })
}
