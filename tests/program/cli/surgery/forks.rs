//! Merges of sessions that share rounds.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::world::{ID, OTHER, World, said};

fn text(made: &serde_json::Value) -> String {
    fs::read_to_string(Path::new(made["path"].as_str().expect("path"))).expect("session")
}

/// A client's fork keeps all rows, with their ids, up to the fork (client 2.1.330).
fn fork(world: &World, rounds: u32) -> String {
    let (own, other) = (format!("\"sessionId\":\"{ID}\""), format!("\"sessionId\":\"{OTHER}\""));
    world.session(ID, rounds, 0).replace(&own, &other)
}

#[test]
fn merge_keeps_both_versions_of_a_forked_round() {
    let world = World::new(3);
    let answer = format!("{}-0003-4000-8000-000000000005", &ID[..8]);
    let other = format!("{}-0003-4000-8000-000000000005", &OTHER[..8]);
    let fork = fork(&world, 3)
        .replace("the answer 3 is known", "the fork has another answer")
        .replace(&answer, &other);
    world.write(OTHER, &fork);
    for pair in [[ID, OTHER], [OTHER, ID]] {
        let made = world.json(&["surgery", "merge", pair[0], pair[1]]);
        let all = said(Path::new(made["path"].as_str().unwrap()));
        for answer in
            ["the answer 2 is known", "the answer 3 is known", "the fork has another answer"]
        {
            assert_eq!(all.iter().filter(|said| *said == answer).count(), 1, "{answer} in {all:?}");
        }
        let doubled = [1, 2].map(|n| json!({ "session": OTHER, "round": n }));
        assert_eq!(made["left"]["doubled"], json!(doubled));
        world.done(&["validate", "--strict", made["path"].as_str().unwrap()]);
    }
}

#[test]
fn merge_keeps_the_longer_of_two_rounds() {
    let world = World::new(3);
    // The fork has only the question of its last round.
    let fork = fork(&world, 3);
    let lines: Vec<&str> = fork.lines().collect();
    world.write(OTHER, &(lines[..lines.len() - 5].join("\n") + "\n"));
    let made = world.json(&["surgery", "merge", ID, OTHER]);
    assert_eq!(made["left"]["doubled"].as_array().map(Vec::len), Some(3), "{made}");
    assert!(text(&made).contains("the answer 3 is known"));
}

#[test]
fn merge_prefers_original_rounds_over_reduced_ones() {
    let world = World::new(4);
    let less = ["--tool-use", "summary", "--tool-result", "summary", "--thinking", "ref"];
    let cut = ["surgery", "compress-before", ID, "round:2"];
    let child = world.json(&[&cut, &less[..]].concat());
    let id = child["id"].as_str().unwrap();
    for pair in [[ID, id], [id, ID]] {
        let made = world.json(&["surgery", "merge", pair[0], pair[1]]);
        let calls = |text: &str| text.matches("\"type\":\"tool_use\"").count();
        assert_eq!(calls(&text(&made)), 4, "{made}");
        assert!(text(&made).contains("secret thought 4"));
        let left = made["left"]["doubled"].as_array().expect("doubled");
        // Its table lists no round that is missing.
        assert!(left.len() == 4 && left.iter().all(|round| round["session"] == id), "{made}");
    }
}
