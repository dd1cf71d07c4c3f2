//! The client retries when the connection breaks within an answer. Depending on the timing, it
//! keeps nothing of the broken answer, a block in the chain, or a finished call with its result,
//! in the chain or beside it (all seen with client 2.1.330). Surgery handles each case.

use std::collections::HashSet;
use std::fs;

use serde_json::{Value, json};

use crate::guard::{moves, step};
use crate::support::mock::Reply;
use crate::support::world::World;

#[test]
fn a_session_with_broken_answers_is_sound_and_can_be_compressed() {
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

    let guard = |args: &[&str]| {
        let done = world.guard(args);
        assert!(done.status.success(), "{args:?}: {}{}", done.stdout, done.stderr);
    };
    let original = world.transcripts().pop().expect("a transcript").display().to_string();
    let made = world.project().join("made.jsonl").display().to_string();
    guard(&["validate", &original]);
    guard(&["surgery", "compress-before", &original, "round:2", "--out", &made]);
    guard(&["validate", &made]);

    let text = fs::read_to_string(&made).expect("made");
    assert_eq!(text.matches("kappa is done").count(), 1, "{text}");
    let rows: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let ids: HashSet<&str> = rows.iter().filter_map(|row| row["uuid"].as_str()).collect();
    let parents: Vec<&str> = rows.iter().filter_map(|row| row["parentUuid"].as_str()).collect();
    assert_eq!(parents.iter().collect::<HashSet<_>>().len(), parents.len(), "one chain: {text}");
    assert_eq!(ids.len(), parents.len() + 1, "one beginning: {text}");
}
