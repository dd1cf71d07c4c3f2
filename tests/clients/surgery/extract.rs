//! Extraction from a session of the real client. The client resumes the successor, and its next
//! request has placeholders instead of long old results, and all other blocks unchanged.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::block::Block;
use super::judge::{Promise, Want};
use super::played::{Made, NEXT, guard, make, resume};
use super::source::Source;
use crate::guard::{Move, moves, step};
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

const ASKED: [&str; 3] = ["alpha: count", "beta: count and fail", "gamma: count on"];
const SAID: [&str; 3] = ["alpha is counted", "beta is counted", "gamma is counted"];

/// The start of every placeholder.
const MARK: &str = "[[extracted-";

fn script() -> Vec<Move> {
    let count = |from: u32| json!({"command": format!("seq {from} {}", from + 400)});
    let fail = json!({"command": "seq 1 400; exit 3"});
    let long = "a thought that is long; ".repeat(60);
    vec![
        step(move |_| {
            let reply = Reply::thinking(long.clone()).and_text("I count");
            reply.and_tool("Bash", count(1000)).tokens(21_000)
        }),
        step(|_| Reply::thinking("a short thought").and_text(SAID[0]).tokens(22_000)),
        step(move |_| {
            let reply = Reply::tool("Bash", count(2000));
            reply.and_tool("Bash", fail.clone()).tokens(24_000)
        }),
        step(|_| Reply::text(SAID[1]).tokens(26_000)),
        step(move |_| Reply::tool("Bash", count(3000)).tokens(27_000)),
        step(|_| Reply::text(SAID[2]).tokens(28_000)),
    ]
}

fn play() -> (World, Source) {
    let world = World::build().bare().agent(moves(script())).start();
    let mut run = world.stream(&[]);
    for (asked, said) in ASKED.iter().zip(SAID) {
        run.say(asked);
        run.wait_json("the turn's end", |line| line["type"] == "result" && line["result"] == said);
    }
    assert!(run.finish().status.success());
    let path = world.transcripts().pop().expect("a transcript");
    let source = Source::read(&path, &ASKED);
    (world, source)
}

fn run(world: &World, id: &str) -> Made {
    let mut made = make(world, &["extract", "run", id]);
    assert_eq!(made.len(), 1, "{made:?}");
    made.remove(0)
}

/// Promises rounds after extraction: thinking is removed, and long results become
/// placeholders unless `stays` is set. Errors and short values are unchanged.
fn promise_extracted(promise: Promise, source: &Source, seqs: &[u32], stays: bool) -> Promise {
    promise.changed(source, seqs, |block| match block {
        // The first round changes, and the model would refuse the thinking behind.
        Block::Thinking(..) => None,
        Block::Result(id, text, false) if text.len() >= 500 && !stays => {
            Some(Want::Result(id.clone(), MARK.to_owned()))
        }
        _ => Some(Want::Same(block.clone())),
    })
}

/// The placeholders in a request, by entry id.
fn placeholders(request: &Request) -> BTreeMap<String, String> {
    let blocks = super::block::blocks_of_request(request);
    let found = blocks.iter().filter_map(|block| match block {
        Block::Result(_, text, _) => {
            let entry = text.strip_prefix(MARK)?.split_once("]]")?.0;
            Some((entry.to_owned(), text.clone()))
        }
        _ => None,
    });
    found.collect()
}

/// The texts of the long results.
fn originals(source: &Source) -> Vec<String> {
    let blocks = [1, 2, 3].into_iter().flat_map(|seq| &source.round(seq).blocks);
    let long = blocks.filter_map(|block| match block {
        Block::Result(_, text, false) if text.len() >= 500 => Some(text.clone()),
        _ => None,
    });
    long.collect()
}

/// Asserts that each of these entries returns its own original.
#[track_caller]
fn gives_back(world: &World, id: &str, entries: &BTreeMap<String, String>, source: &Source) {
    let originals = originals(source);
    for (entry, shown) in entries {
        let output = guard(world, &["extract", "restore", id, entry]);
        let given: Vec<&String> =
            originals.iter().filter(|text| output.stdout.contains(text.as_str())).collect();
        assert_eq!(given.len(), 1, "{id} {entry}: {output:?}");
        let first = given[0].lines().next().expect("a line");
        assert!(shown.contains(first), "it is the one whose beginning stands there: {shown}");
    }
}

#[test]
fn an_extracted_session_continues_and_restores_its_values() {
    let (world, source) = play();
    let id = source.id.as_str();

    let before = world.transcripts().len();
    let dry = guard(&world, &["extract", "run", id, "--dry-run", "--json"]);
    let told: Value = serde_json::from_str(&dry.stdout).expect("JSON");
    assert_eq!(told["extracted"].as_array().map(Vec::len), Some(3), "{told}");
    assert!(told["tokens"]["freed"].as_u64() > Some(500), "{told}");
    assert_eq!(world.transcripts().len(), before, "a dry run writes nothing");

    let made = run(&world, id);
    let again = guard(&world, &["extract", "run", &made.id]);
    assert!(again.stdout.contains("nothing to extract"), "{again:?}");
    assert_eq!(world.transcripts().len(), before + 1);

    // In the next request, two results and the long thought are extracted.
    let written = std::fs::read(&made.path).expect("the new session");
    let request = resume(&world, &made.id);
    let promise = promise_extracted(Promise::default(), &source, &[1, 2], false);
    let promise = promise_extracted(promise, &source, &[3], true);
    if let Err(difference) = promise.says(NEXT).kept_by(&request) {
        world.evidence.fail(&difference);
    }
    assert!(std::fs::read(&made.path).expect("it").starts_with(&written), "it is appended to");
    let first = placeholders(&request);
    assert_eq!(first.len(), 2, "{first:?}");

    gives_back(&world, &made.id, &first, &source);
    let entry = first.keys().next().expect("one");
    let in_place = world.guard(&["extract", "restore", &made.id, entry, "--in-place"]);
    assert!(!in_place.status.success(), "{in_place:?}");
    assert!(in_place.stderr.contains("surgery remove"), "{in_place:?}");
    let context = guard(&world, &["extract", "context", &made.id, "--json"]);
    assert!(first.keys().all(|entry| context.stdout.contains(entry.as_str())), "{context:?}");

    // After the next turn the third result is old too; earlier placeholders stay unchanged.
    let second = run(&world, &made.id);
    let request = resume(&world, &second.id);
    let promise = promise_extracted(Promise::default(), &source, &[1, 2, 3], false);
    let promise = promise.says(NEXT).answers("nothing more to do").says(NEXT);
    if let Err(difference) = promise.kept_by(&request) {
        world.evidence.fail(&difference);
    }
    let all = placeholders(&request);
    assert_eq!(all.len(), 3, "{all:?}");
    for (entry, text) in &first {
        assert_eq!(all.get(entry), Some(text), "the prompt cache has it so");
    }
    gives_back(&world, &second.id, &all, &source);

    // Another operation keeps the placeholders.
    let compressed = make(&world, &["surgery", "compress-before", &second.id, "round:2"]).remove(0);
    let left = placeholders(&resume(&world, &compressed.id));
    assert_eq!(left.len(), 2, "{left:?}");
    gives_back(&world, &compressed.id, &left, &source);
}

#[test]
fn undo_removes_the_successor() {
    let (world, source) = play();
    let made = run(&world, &source.id);
    guard(&world, &["surgery", "remove", &made.id]);
    assert!(!made.path.exists(), "it is gone");
    let log = guard(&world, &["surgery", "log", &source.id]);
    assert!(log.stdout.contains("extract") && log.stdout.contains("removed"), "{log:?}");
    let folder = world.project().join("elsewhere");
    std::fs::create_dir(&folder).expect("a folder");
    let folder = folder.display().to_string();
    let made =
        make(&world, &["extract", "run", &source.id, "--keep-recent", "0", "--out", &folder]);
    assert!(made[0].path.starts_with(&folder), "{made:?}");
}

/// Client and extraction both skip an unreadable row.
#[test]
fn a_torn_row_keeps_the_conversation_before_it() {
    let (world, source) = play();
    let path = world.transcripts().pop().expect("a transcript");
    let rows = std::fs::read_to_string(&path).expect("rows");
    let torn = |row: &str| row.contains(SAID[0]) && row.contains("\"text\"");
    let rows: Vec<&str> =
        rows.lines().map(|row| if torn(row) { &row[..row.len() / 2] } else { row }).collect();
    let broken = rows.iter().filter(|row| serde_json::from_str::<Value>(row).is_err());
    assert_eq!(broken.count(), 1, "one row is torn: {rows:?}");
    std::fs::write(&path, rows.join("\n") + "\n").expect("written");
    let first = |request: &Request| {
        let blocks = super::block::blocks_of_request(request);
        blocks.iter().find_map(|block| match block {
            Block::Result(_, text, _) => Some(text.clone()),
            _ => None,
        })
    };
    let planned = guard(&world, &["extract", "plan", &source.id, "--json"]);
    let made = run(&world, &source.id);
    let again = guard(&world, &["extract", "run", &made.id]);
    assert!(again.stdout.contains("nothing to extract"), "{again:?} behind {planned:?}");
    let new = first(&resume(&world, &made.id)).expect("a result");
    assert!(new.starts_with(MARK) && new.contains("1000"), "{new}");
    let old = first(&resume(&world, &source.id)).expect("a result");
    assert!(old.starts_with("1000\n"), "{old}");
}
