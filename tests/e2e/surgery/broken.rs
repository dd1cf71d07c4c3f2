//! An answer whose connection broke leaves no branch: the client asks again, and writes what came then. A block that
//! it had written before the break stays, in the chain (seen with client 2.1.330 on a busy machine: a thinking block).
//! So the rows of a round, which surgery takes whole, hold each answer once.

use std::collections::HashSet;
use std::fs;

use serde_json::{Value, json};

use crate::guard::{moves, step};
use crate::mock::Reply;
use crate::world::World;

#[test]
fn a_broken_answer_leaves_no_branch() {
    let bash = |word: &str| json!({"command": format!("echo {word}"), "description": "step"});
    let broken = move |blocks| {
        let said = Reply::thinking("mislaid thought").and_text("mislaid words");
        said.and_tool("Bash", bash("mislaid")).and_text("never").tokens(21_000).breaks_after(blocks)
    };
    let agent = moves(vec![
        step(move |_| broken(1)),
        step(|_| Reply::thinking("second").and_text("iota is done").tokens(22_000)),
        step(move |_| broken(3)),
        step(move |_| Reply::thinking("again").and_tool("Bash", bash("kappa")).tokens(23_000)),
        step(|_| Reply::text("kappa is done").tokens(24_000)),
    ]);
    let world = World::build().bare().agent(agent).start();
    let tui = world.tui(&[]);
    for (prompt, upto, answer) in [("iota", 2, "iota is done"), ("kappa", 5, "kappa is done")] {
        tui.prompt(prompt);
        world.mock.wait_main(upto);
        tui.wait_screen(answer, |screen| screen.contains(answer));
        tui.wait_idle();
    }
    tui.quit();
    assert_eq!(world.mock.main().len(), 5, "each broken answer was asked for again");

    let text = fs::read_to_string(world.transcripts().pop().expect("a transcript")).expect("text");
    let rows: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let ids: Vec<&str> = rows.iter().filter_map(|row| row["uuid"].as_str()).collect();
    let parents: Vec<&str> = rows.iter().filter_map(|row| row["parentUuid"].as_str()).collect();
    // Never a call: nobody answered it.
    assert!(!text.contains("echo mislaid"), "{text}");
    assert_eq!(
        parents.iter().collect::<HashSet<_>>().len(),
        parents.len(),
        "no row has two behind it"
    );
    assert_eq!(ids.len(), parents.len() + 1, "and only the first hangs on none");
}
