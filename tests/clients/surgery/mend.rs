//! Broken sessions, as people report them: before, the client forgets part of the session or sends
//! thinking that the API refuses; after `mend`, it sends every round.

use std::fs;

use serde_json::{Value, json};

use super::block::{Block, blocks_of_request};
use super::bound::{ASKED, play, thinking};
use super::live::id;
use super::pairs::has_whole_pairs;
use super::played::{guard, make, resume};
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

const ERROR: &str = "API Error: 400 messages.1.content.0: `thinking` or `redacted_thinking` blocks \
                     in the latest assistant message cannot be modified. These blocks must remain \
                     as they were in the original response.";

/// The rows of a session.
struct Rows(Vec<Value>);

impl Rows {
    fn of(text: &str) -> Self {
        Self(text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
    }

    fn prompt(&self, text: &str) -> usize {
        let is = |row: &Value| row["type"] == "user" && row["message"]["content"] == text;
        self.0.iter().position(is).expect("the prompt's row")
    }

    fn bytes(rows: &[Value]) -> Vec<u8> {
        rows.iter().flat_map(|row| format!("{row}\n").into_bytes()).collect()
    }

    /// The file with something between the rows of the first two rounds and the third.
    fn with(&self, cut: usize, between: &[u8]) -> Vec<u8> {
        let at = self.prompt(ASKED[2]);
        let mut head = Self::bytes(&self.0[..at]);
        head.truncate(head.len() - cut);
        [&head, between, &Self::bytes(&self.0[at..])].concat()
    }

    /// The third prompt follows a row that is not there, and all others are older than those that
    /// the client takes instead.
    fn cut(&mut self) {
        let at = self.prompt(ASKED[2]);
        for row in self.0[..at].iter_mut().filter(|row| row["timestamp"].is_string()) {
            row["timestamp"] = json!("2026-01-01T00:00:00.000Z");
        }
        self.0[at]["parentUuid"] = json!("00000000-0000-4000-8000-0000000000dd");
    }
}

type Break = fn(&mut Rows) -> Vec<u8>;

/// What is broken, and the rounds that the client still sends whole.
const BROKEN: [(&str, Break, &[usize]); 7] = [
    (
        "a parent that is not in the file",
        |rows| {
            rows.cut();
            Rows::bytes(&rows.0)
        },
        &[2],
    ),
    (
        "rows appended twice",
        |rows| {
            let (from, to) = (rows.prompt(ASKED[1]), rows.prompt(ASKED[2]));
            rows.0.extend_from_within(from..to);
            Rows::bytes(&rows.0)
        },
        &[0, 1],
    ),
    ("NUL bytes", |rows| rows.with(0, &[0; 4096]), &[0, 1]),
    ("a row that was cut off, and the next one behind it", |rows| rows.with(40, b""), &[0, 1]),
    (
        "thinking that the API refuses",
        |rows| {
            let at = rows.prompt(ASKED[0]);
            rows.0[at]["message"]["content"] = json!(format!("{}!", ASKED[0]));
            let mut error = rows.0[at].clone();
            error["type"] = json!("assistant");
            error["isApiErrorMessage"] = json!(true);
            error["uuid"] = json!("00000000-0000-4000-8000-0000000000ee");
            let last = rows.0.iter().rfind(|row| row["uuid"].is_string());
            error["parentUuid"] = last.expect("a row")["uuid"].clone();
            let text = json!([{"type": "text", "text": ERROR}]);
            error["message"] = json!({"id": "error", "type": "message", "role": "assistant",
                "model": "<synthetic>", "content": text});
            rows.0.push(error);
            Rows::bytes(&rows.0)
        },
        &[0, 1, 2],
    ),
    (
        "half of a character",
        |rows| {
            let text = String::from_utf8(Rows::bytes(&rows.0)).expect("UTF-8");
            let end = format!("{} is done", ASKED[2]);
            text.replace(&end, &format!("{end} \\ud83d")).into_bytes()
        },
        &[0, 1, 2],
    ),
    (
        "three faults",
        |rows| {
            rows.cut();
            let mut bytes = rows.with(0, &[0; 100]);
            bytes.truncate(bytes.len() - 30);
            bytes
        },
        &[],
    ),
];

/// The rounds that a request has whole.
fn sent(request: &Request) -> Vec<usize> {
    let blocks = blocks_of_request(request);
    let has = |asked: &str| {
        let prompt = |block: &Block| matches!(block, Block::User(text) if text.starts_with(asked));
        let end = format!("{asked} is done");
        let answer = |block: &Block| matches!(block, Block::Agent(text) if text.starts_with(&end));
        blocks.iter().any(prompt) && blocks.iter().any(answer)
    };
    (0..ASKED.len()).filter(|at| has(ASKED[*at])).collect()
}

#[test]
fn a_broken_session_is_sent_whole_again() {
    let (world, original) = &play(World::build(), Vec::new());
    let path = world.transcripts().pop().expect("a transcript");
    let text = fs::read_to_string(&path).expect("a transcript");
    let told = guard(world, &["mend", original]).stdout;
    assert!(told.starts_with("nothing to mend") && told.contains("rounds 1-3 of 3"), "{told}");
    assert_eq!(world.transcripts().len(), 1, "nothing is made of a sound session");
    for (nth, (what, change, before)) in BROKEN.iter().enumerate() {
        let session = format!("00000000-0000-4000-8000-{:012}", 2 * nth);
        let bytes = change(&mut Rows::of(&text.replace(original, &session)));
        fs::write(path.with_file_name(format!("{session}.jsonl")), &bytes).expect("writable");
        // The client goes on in a copy, so that the broken file stays as it is.
        let copy = format!("00000000-0000-4000-8000-{:012}", 2 * nth + 1);
        let bytes = change(&mut Rows::of(&text.replace(original, &copy)));
        fs::write(path.with_file_name(format!("{copy}.jsonl")), bytes).expect("writable");
        let request = resume(world, &copy);
        assert_eq!(sent(&request), *before, "{what}: before");
        let told = guard(world, &["mend", &session, "--dry-run"]).stdout;
        let made = make(world, &["mend", &session]).remove(0);
        let request = resume(world, &made.id);
        assert!(told.contains("nothing was written"), "{what}: {told}");
        assert_eq!(sent(&request), [0, 1, 2], "{what}: after: {told}");
        assert!(has_whole_pairs(&request), "{what}: {told}");
        assert_eq!(thinking(&world.mock.main()).1, 0, "{what}: thinking: {told}");
        let made = guard(world, &["validate", &made.id]).stdout;
        assert!(made.contains("\nsound: ") || made.starts_with("sound: "), "{what}: {made}");
    }
}

#[test]
fn a_refused_session_says_so_and_is_mended_once_it_is_closed() {
    let answer =
        |_: &Request| Reply::thinking("It is short.").and_text("It is done.").tokens(30_000);
    let world = World::build().agent(answer).start();
    assert!(world.print(&[], ASKED[0]).finish().status.success());
    let path = world.transcripts().pop().expect("a transcript");
    let (_, refuse, _) = BROKEN[4];
    let broken = refuse(&mut Rows::of(&fs::read_to_string(&path).expect("a transcript")));
    fs::write(&path, broken).expect("writable");
    let original = &id(&path);
    let tui = world.tui(&["--resume", original]);
    tui.wait_screen("the way out", |screen| screen.contains("brain-guard mend"));
    let open = world.guard(&["mend", original]);
    assert!(open.stderr.contains("has the session"), "{open:?}");
    tui.prompt("/clear");
    let mended = || world.guard(&["mend", original]).status.success().then_some(());
    world.wait("the client to leave the session", mended);
}
