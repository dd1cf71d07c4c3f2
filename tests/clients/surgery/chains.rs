//! Chains of operations: the output of one is the source of the next. Also, the agent reads
//! rounds of an index table again.

use super::judge::{Promise, line};
use super::played::{Made, NEXT, guard, holds, make, resume};
use super::source::{Round, Source};
use crate::guard::{Move, moves, step};
use crate::support::client::Run;
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

const BOTH: &str = "user→assistant";
const A: [&str; 3] = ["a-one: the plan", "a-two: the parser", "a-three: the printer"];
const B: [&str; 2] = ["b-one: the tests", "b-two: the docs"];

/// The start of an index table.
const TABLE: &str = "[brain-guard] This session was made from the session";

/// Two parallel sessions of one project with the rounds a, b, a, b, a.
struct Two {
    world: World,
    a: Source,
    b: Source,
}

/// The model's moves of one round: a thought, a call and an answer.
fn round(name: &'static str) -> [Move; 2] {
    let (thought, said) = (format!("thinking of {name}"), format!("{name} is done"));
    let command = format!("echo result-of-{name}");
    [
        step(move |_| {
            Reply::thinking(thought.clone()).and_tool("Bash", bash(&command)).tokens(21_000)
        }),
        step(move |_| Reply::text(said.clone()).tokens(22_000)),
    ]
}

fn bash(command: &str) -> serde_json::Value {
    serde_json::json!({"command": command, "description": "Run it"})
}

fn play(more: Vec<Move>) -> Two {
    let order = [A[0], B[0], A[1], B[1], A[2]];
    let mut script: Vec<Move> = order.into_iter().flat_map(round).collect();
    script.extend(more);
    let world = World::build().bare().agent(moves(script)).start();
    let ask = |run: &mut Run, prompt: &str, nth: usize| {
        run.say(prompt);
        let end = format!("{prompt} is done");
        run.wait_json("the turn's end", |line| line["type"] == "result" && line["result"] == end);
        world.mock.wait_main(nth * 2);
    };
    let (mut a, mut b) = (world.stream(&[]), world.stream(&[]));
    for (nth, prompt) in order.iter().enumerate() {
        ask(if prompt.starts_with('a') { &mut a } else { &mut b }, prompt, nth + 1);
    }
    assert!(a.finish().status.success() && b.finish().status.success());
    let mut found = world
        .transcripts()
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a transcript");
            (!text.contains(A[0]), path)
        })
        .collect::<Vec<_>>();
    found.sort();
    let [(_, first), (_, second)] = &found[..] else { panic!("two sessions: {found:?}") };
    let (a, b) = (Source::read(first, &A), Source::read(second, &B));
    Two { world, a, b }
}

fn line_of(round: &Round, number: &str, prompt: &str) -> String {
    line(number, round, BOTH, Some("Bash·Run it"), &format!("{prompt} is done"))
}

fn only(mut made: Vec<Made>) -> Made {
    assert_eq!(made.len(), 1, "{made:?}");
    made.remove(0)
}

#[test]
fn operations_accept_outputs_of_operations() {
    let Two { world, a, b } = &play(Vec::new());
    let (id_a, id_b) = (a.id.as_str(), b.id.as_str());
    let by_time = || {
        let runs = [
            (id_a, "1", A[0]),
            (id_b, "1", B[0]),
            (id_a, "2", A[1]),
            (id_b, "2", B[1]),
            (id_a, "3", A[2]),
        ];
        let promise = Promise::default().voices(&runs).rounds(a, &[1]).rounds(b, &[1]);
        promise.rounds(a, &[2]).rounds(b, &[2]).rounds(a, &[3])
    };
    let merged = only(make(world, &["surgery", "merge", id_a, id_b]));
    holds(world, &merged, by_time());
    let again = only(make(world, &["export-claude", "--merge", id_b, id_a]));
    holds(world, &again, by_time());

    let plain = only(make(world, &["surgery", "merge", id_a, id_b, "--no-table"]));
    let promise = Promise::default().rounds(a, &[1]).behind_a_change().rounds(b, &[1]);
    holds(world, &plain, promise.rounds(a, &[2]).rounds(b, &[2]).rounds(a, &[3]));

    // Extract from a merge: round 1 is the table, round 7 the message of the resumed session.
    guard(world, &["tag", &merged.id, "3,5", "quality"]);
    let extracted = only(make(world, &["surgery", "extract-engagement", &merged.id, "quality"]));
    holds(world, &extracted, Promise::default().behind_a_change().rounds(b, &[1, 2]));

    // Split, then merge: each round once, and the table of both successors.
    let map = world.project().join("map.json");
    let text = r#"{"engagements": {"parser": "2", "printer": "3"}}"#;
    std::fs::write(&map, text).expect("the project is writable");
    let map = map.display().to_string();
    let children = make(world, &["surgery", "split", id_a, &map]);
    let [left, right] = &children[..] else { panic!("two children: {children:?}") };
    let shared = [line_of(a.round(1), "001", A[0])];
    let joined = only(make(world, &["surgery", "merge", &left.id, &right.id]));
    let (l, r) = (left.id.as_str(), right.id.as_str());
    let runs = [(r, "1", TABLE), (l, "2", A[1]), (r, "2", A[2])];
    let promise = Promise::default().voices(&runs).index(&shared);
    let promise = promise.rounds(a, &[2, 3]);
    holds(world, &joined, promise);

    // Merge the parts of a split session with another session.
    let joined = only(make(world, &["surgery", "merge", &right.id, id_b]));
    let runs = [(r, "1", TABLE), (id_b, "1-2", B[0]), (r, "2", A[2])];
    let promise = Promise::default().voices(&runs).index(&shared);
    let promise = promise.rounds(b, &[1, 2]).rounds(a, &[3]);
    holds(world, &joined, promise);
}

#[test]
fn a_compressed_session_goes_on_and_is_compressed_again() {
    let show = format!("{} show 001", env!("CARGO_BIN_EXE_brain-guard"));
    let more = vec![
        step(move |r: &Request| {
            assert!(!r.said("result-of-a-one"), "the round is not in the context");
            Reply::bash(&show).tokens(9_000)
        }),
        step(|r: &Request| {
            let told = r.tool_results().remove(0);
            for part in [A[0], "thinking of a-one", "result-of-a-one", "a-one: the plan is done"] {
                assert!(!told.is_error && told.text.contains(part), "{part} is missing: {told:?}");
            }
            Reply::text("I have read it").tokens(9_500)
        }),
    ];
    let Two { world, a, .. } = &play(more);
    let id = a.id.as_str();
    let t = a.round(3).started.as_str();
    let first = only(make(world, &["surgery", "compress-before", id, t]));
    let table = [line_of(a.round(1), "001", A[0]), line_of(a.round(2), "002", A[1])];
    let output = world.print(&["--resume", &first.id], "read the first round").finish();
    assert!(output.status.success() && output.stdout.contains("I have read it"), "{output:?}");
    world.mock.wait_main(12);

    // Rounds that the client appended to the new session count like any other.
    let grown = Source::read(&first.path, &["[brain-guard]", A[2], "read the first round"]);
    let promise = Promise::default().index(&table).rounds(a, &[3]).rounds(&grown, &[3]).says(NEXT);
    assert_eq!(promise.kept_by(&resume(world, &first.id)), Ok(()));
    let grown = Source::read(&first.path, &["[brain-guard]", A[2], "read the first round", NEXT]);
    let second = only(make(world, &["surgery", "compress-before", &first.id, "round:3"]));
    let request = resume(world, &second.id);
    assert!(!request.said("result-of-a-three"));
    // The lines of the first table stay, and the copied round has the number of its origin.
    let table = [&table[..], &[line_of(a.round(3), "003", A[2])]].concat();
    let promise = Promise::default().index(&table).rounds(&grown, &[3, 4]).says(NEXT);
    assert_eq!(promise.kept_by(&request), Ok(()));
}
