//! Newer models refuse a thinking block once anything before it changed. The client's requests are
//! checked as that API checks them: system prompt, tools and all messages before each block must be
//! those of the request that it answered.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;

use super::played::{guard, make, resume};
use crate::guard::{Move, moves, step};
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

const ASKED: [&str; 3] = ["alpha: count", "beta: count on", "gamma: count further"];

fn round(asked: &'static str) -> [Move; 2] {
    let from = 1000 * asked.len();
    let count = json!({"command": format!("seq {from} {}", from + 400)});
    [
        step(move |_| {
            let thought = format!("before the call of {asked}");
            Reply::thinking(thought).and_tool("Bash", count.clone()).tokens(21_000)
        }),
        step(move |_| {
            let thought = format!("before the answer to {asked}");
            Reply::thinking(thought).and_text(format!("{asked} is done")).tokens(22_000)
        }),
    ]
}

/// How many thinking blocks the last request has, and how many of them would be refused.
fn thinking(requests: &[Arc<Request>]) -> (usize, usize) {
    let made: HashMap<String, String> = requests
        .iter()
        .map(|request| {
            (format!("sigmain{:04}", request.n), request.before(request.messages().len()))
        })
        .collect();
    let last = requests.last().expect("a request");
    let (mut all, mut refused) = (0, 0);
    for (at, message) in last.messages().iter().enumerate() {
        let blocks = message["content"].as_array().into_iter().flatten();
        for block in blocks.filter(|block| block["type"] == "thinking") {
            let signature = block["signature"].as_str().expect("a signature");
            let before = last.before(at);
            all += 1;
            refused += usize::from(made.get(signature) != Some(&before));
        }
    }
    (all, refused)
}

#[test]
fn no_operation_leaves_thinking_that_the_model_refuses() {
    let world =
        World::build().bare().agent(moves(ASKED.into_iter().flat_map(round).collect())).start();
    for (at, asked) in ASKED.into_iter().enumerate() {
        let more = if at == 0 { &[][..] } else { &["--continue"][..] };
        let output = world.print(more, asked).finish();
        assert!(output.status.success(), "{output:?}");
    }
    let path = world.transcripts().pop().expect("a transcript");
    let id = path.file_stem().and_then(|stem| stem.to_str()).expect("an id").to_owned();
    guard(&world, &["tag", &id, "2", "counting"]);
    let resumed = |arguments: &[&str]| {
        let made = make(&world, arguments).remove(0);
        resume(&world, &made.id);
        thinking(&world.mock.main())
    };
    let engagement = ["surgery", "compress-engagement", &id, "counting"];
    assert_eq!(resumed(&engagement), (2, 0), "those before the change stay");
    assert_eq!(resumed(&["surgery", "compress-before", &id, "round:2"]), (0, 0));
    assert_eq!(resumed(&["surgery", "extract-engagement", &id, "counting"]), (0, 0));
    assert_eq!(resumed(&["extract", "run", &id]), (0, 0));
    let short = ["--tool-result", "summary"];
    assert_eq!(resumed(&[&engagement[..], &short].concat()), (0, 0));
    // As asked for, it stays, and the API would refuse it.
    let full = ["--thinking", "full"];
    assert_eq!(resumed(&[&engagement[..], &full].concat()), (4, 2));
    // The session itself is as it was.
    resume(&world, &id);
    assert_eq!(thinking(&world.mock.main()), (6, 0));
}
