//! The client's own menu summarizes part of a session. What it sends then is what `rounds` names and
//! what operations keep, in its order.

use serde_json::Value;

use super::block::{Block, blocks_of_request};
use super::played::{guard, make, resume};
use crate::guard::{Move, moves, step};
use crate::support::client::Tui;
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

const ASKED: [&str; 4] = ["one: the plan", "two: the parser", "three: the tests", "four: the docs"];
const FIVE: &str = "five: the release";
/// How the client begins a summary.
const SUMMARY: &str = "This session is being continued";

/// Plays four rounds, summarizes from the menu at the third, and goes on.
fn play(choice: &str) -> (World, String) {
    let turn =
        |asked: &'static str| step(move |_| Reply::text(format!("{asked} is done")).tokens(21_000));
    let turns: Vec<Move> = ASKED.into_iter().chain([FIVE]).map(turn).collect();
    let world = World::build().bare().agent(moves(turns)).start();
    let tui = world.tui(&[]);
    for asked in ASKED {
        say(&tui, asked);
    }
    tui.prompt("/rewind");
    tui.wait_screen("the rounds", |screen| screen.contains("Rewind"));
    tui.keys("Up");
    tui.keys("Up");
    tui.keys("Enter");
    tui.wait_screen("the choices", |screen| screen.contains(choice));
    for _ in 0..8 {
        let screen = tui.screen();
        if screen.lines().any(|line| line.contains('❯') && line.contains(choice)) {
            break;
        }
        tui.keys("Down");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    tui.keys("Enter");
    tui.wait_screen("the summary", |screen| screen.contains("ummarized"));
    tui.wait_idle();
    // The client may have put the prompt back into the box.
    tui.keys("C-u");
    say(&tui, FIVE);
    tui.quit();
    let path = world.transcripts().pop().expect("a transcript");
    let id = path.file_stem().and_then(|stem| stem.to_str()).expect("an id").to_owned();
    (world, id)
}

fn say(tui: &Tui, asked: &str) {
    tui.prompt(asked);
    let end = format!("{asked} is done");
    tui.wait_screen(asked, |screen| screen.contains(&end));
    tui.wait_idle();
}

/// Which of these texts the request has, in its order. A text that it has twice is named twice.
fn order(request: &Request, texts: &[&'static str]) -> Vec<&'static str> {
    let mut found = Vec::new();
    for block in blocks_of_request(request) {
        let (Block::User(text) | Block::Agent(text)) = block else { continue };
        found.extend(texts.iter().copied().filter(|wanted| text.starts_with(wanted)));
    }
    found
}

/// All texts; those of the agent begin like the user's.
fn texts() -> Vec<&'static str> {
    [&ASKED[..], &[FIVE, SUMMARY, "[brain-guard] This session was made"]].concat()
}

/// A round as its two messages.
fn both(texts: &[&'static str]) -> Vec<&'static str> {
    let is_round = |text: &&str| ASKED.contains(text) || **text == *FIVE;
    texts.iter().flat_map(|text| vec![*text; if is_round(text) { 2 } else { 1 }]).collect()
}

fn states(world: &World, id: &str) -> Vec<String> {
    let listed = guard(world, &["rounds", id, "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).expect("JSON");
    let rounds = listed["rounds"].as_array().expect("rounds");
    rounds.iter().map(|round| round["state"].as_str().expect("a state").to_owned()).collect()
}

const TABLE: &str = "[brain-guard] This session was made";

#[test]
fn rounds_behind_a_summary_up_to_here_are_kept() {
    let (world, id) = play("Summarize up to here");
    let sent = order(world.mock.main().last().expect("a request"), &texts());
    assert_eq!(sent, [&[SUMMARY][..], &both(&ASKED[2..]), &[FIVE]].concat(), "the client");
    let (gone, here) = ("compacted", "in_context");
    assert_eq!(states(&world, &id), [gone, gone, here, here, here, here]);
    guard(&world, &["tag", &id, "4", "docs"]);
    let made = make(&world, &["surgery", "compress-engagement", &id, "docs"]).remove(0);
    let kept = both(&[SUMMARY, ASKED[2], TABLE, FIVE]);
    assert_eq!(order(&resume(&world, &made.id), &texts()), kept);
    let cut = make(&world, &["surgery", "compress-before", &id, "round:4"]).remove(0);
    let kept = both(&[TABLE, SUMMARY, TABLE, ASKED[3], FIVE]);
    assert_eq!(order(&resume(&world, &cut.id), &texts()), kept);
    let again = make(&world, &["surgery", "merge", &id, &made.id]).remove(0);
    let sent = order(&resume(&world, &again.id), &texts());
    for text in [SUMMARY, ASKED[2], ASKED[3], FIVE] {
        let wanted = both(&[text]).len();
        assert_eq!(sent.iter().filter(|sent| **sent == text).count(), wanted, "{text}: {sent:?}");
    }
}

#[test]
fn rounds_before_a_summary_from_here_are_kept() {
    let (world, id) = play("Summarize from here");
    let sent = order(world.mock.main().last().expect("a request"), &texts());
    assert_eq!(sent, [&both(&ASKED[..2])[..], &[SUMMARY, FIVE]].concat(), "the client");
    let (gone, here) = ("compacted", "in_context");
    assert_eq!(states(&world, &id), [here, here, gone, gone, here, here]);
    guard(&world, &["tag", &id, "1", "plan"]);
    let made = make(&world, &["surgery", "compress-engagement", &id, "plan"]).remove(0);
    let kept = both(&[TABLE, ASKED[1], SUMMARY, FIVE]);
    assert_eq!(order(&resume(&world, &made.id), &texts()), kept);
    let cut = make(&world, &["surgery", "compress-before", &id, "round:2"]).remove(0);
    assert_eq!(order(&resume(&world, &cut.id), &texts()), kept);
}
