//! How long it takes to shorten a large session in its pane, and to go back: from Enter to the line
//! that says it is done, with the prompt box there. And whether the forecast is right.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::figures::{MOST, size, tokens};
use super::is_long;
use super::live::{DONE, PROPOSED, id, state};
use crate::guard::logged;
use crate::support::client::Tui;
use crate::support::mock::Reply;
use crate::support::process;
use crate::support::world::World;

/// The goal for the median, with a release build.
const GOAL: Duration = Duration::from_secs(1);
/// Bytes that the client keeps of a tool's output, of which the model reads the start.
const OUTPUT: usize = 100_000;
const READ: usize = 1_000;
const BACK: &str = "back in the session as it was";

/// Writes the rows of a long session into a client's transcript.
struct Writer {
    session: String,
    project: String,
    /// Text to cut from.
    pool: String,
    rows: String,
    row: usize,
    parent: Value,
    /// Tokens of the context.
    used: usize,
}

impl Writer {
    fn new(session: &str, project: &Path, base: u64) -> Self {
        let mut seed = 1_u32;
        let word = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            format!("{:x} ", seed >> 12)
        };
        Self {
            session: session.to_owned(),
            project: project.display().to_string(),
            pool: std::iter::repeat_with(word).take(OUTPUT).collect(),
            rows: String::new(),
            row: 0,
            parent: Value::Null,
            used: base as usize,
        }
    }

    fn text(&self, bytes: usize) -> &str {
        let start = self.row * 7_919 % (self.pool.len() - bytes);
        &self.pool[start..start + bytes]
    }

    /// Writes a message, which counts as `content`, with more fields.
    fn message(&mut self, role: &str, content: &Value, more: &Value) {
        self.row += 1;
        let (row, minute) = (self.row, self.row / 4);
        let message = match role {
            "user" => json!({"role": role, "content": content}),
            _ => json!({
                "id": format!("msg_{row}"), "type": "message", "role": role,
                "model": "claude-opus-5-5", "content": content, "stop_reason": null,
                "usage": {
                    "input_tokens": 7, "cache_creation_input_tokens": 0,
                    "cache_read_input_tokens": self.used, "output_tokens": 50,
                },
            }),
        };
        self.used += tokens(content) as usize;
        let uuid = format!("00000000-0000-4000-8000-{row:012}");
        let time = format!(
            "2026-03-{:02}T{:02}:{:02}:{:02}.000Z",
            10 + minute / 1440,
            minute / 60 % 24,
            minute % 60,
            row % 4
        );
        let mut line = json!({
            "parentUuid": self.parent, "isSidechain": false, "type": role, "message": message,
            "uuid": uuid, "timestamp": time, "userType": "external", "entrypoint": "cli",
            "cwd": self.project, "sessionId": self.session, "version": crate::support::client::PINNED,
        });
        let fields = line.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        let _ = writeln!(self.rows, "{line}");
        self.parent = json!(uuid);
    }

    /// A prompt, a call with a long output, and an answer.
    fn round(&mut self) {
        let none = json!({});
        self.message("user", &json!(self.text(120)), &none);
        let call = format!("toolu_{}", self.row);
        let input = json!({"command": "cargo test", "description": "Run the tests"});
        let block = json!([{"type": "tool_use", "id": call, "name": "Bash", "input": input}]);
        self.message("assistant", &block, &none);
        let block =
            json!([{"type": "tool_result", "tool_use_id": call, "content": self.text(READ)}]);
        let output = json!({"stdout": self.text(OUTPUT), "stderr": "", "interrupted": false});
        self.message("user", &block, &json!({"toolUseResult": output}));
        let block = json!([{"type": "text", "text": self.text(400)}]);
        self.message("assistant", &block, &none);
    }
}

/// A world with a session of this size, whose last rounds the client played today.
fn play(bytes: usize, program: Option<PathBuf>) -> (World, String) {
    let world = World::build().agent(|request| Reply::text("done").tokens(size(request)));
    let world = match program {
        Some(program) => world.guard_binary(&program).start(),
        None => world.start(),
    };
    let ask = |arguments: &[&str], prompt: &str| {
        let output = world.print(arguments, prompt).finish();
        assert!(output.status.success(), "{output:?}");
        size(world.mock.main().last().expect("a request"))
    };
    let base = ask(&[], "hello");
    let first = world.transcripts().pop().expect("a transcript");
    let session = format!("{}1", &id(&first)[..35]);
    let mut writer = Writer::new(&session, &world.project(), base);
    while writer.rows.len() < bytes {
        writer.round();
    }
    fs::remove_file(&first).expect("own folder");
    fs::write(first.with_file_name(format!("{session}.jsonl")), writer.rows).expect("own folder");
    for n in 1..=3 {
        ask(&["--resume", &session], &format!("the next step, the {n}th"));
    }
    (world, session)
}

/// The times of a switch, and of its steps from Enter on.
struct Times {
    all: Duration,
    steps: String,
}

/// Types a command, and waits until it is done and the prompt box is there.
fn switch(world: &World, tui: &Tui, command: &str, line: &str) -> Times {
    let requests = || world.mock.with_log(|log| log.requests.len() + log.other.len());
    let steps = || logged(world).into_iter().filter(|event| event["kind"] == "succession");
    let (before, seen) = (requests(), steps().count());
    tui.prompt(command);
    let (began, at) = (Instant::now(), Utc::now());
    let done = || steps().skip(seen).any(|event| event["step"] == "done");
    let is_there = || done() && tui.screen().contains(line) && tui.prompt_box().is_some();
    let found = process::poll(process::DEADLINE, Duration::from_millis(5), || {
        is_there().then(|| began.elapsed())
    });
    let all = found.unwrap_or_else(|| world.evidence.fail("the switch is not done"));
    assert_eq!(requests(), before, "no request is sent");
    let after = |event: &Value| {
        let time = event["at"].as_str().expect("a time");
        let time = DateTime::parse_from_rfc3339(time).expect("a time").to_utc();
        format!("{} {} ms", event["step"], (time - at).num_milliseconds())
    };
    let steps = steps().skip(seen).map(|event| after(&event)).collect::<Vec<_>>().join(", ");
    tui.wait_idle();
    Times { all, steps }
}

fn median(times: &mut [Times]) -> Duration {
    times.sort_by_key(|times| times.all);
    times[times.len() / 2].all
}

/// The release build beside the binary under test, which `./test --all` makes.
fn release() -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_brain-guard")).ancestors().nth(2).expect("a folder");
    target.join("release/brain-guard")
}

#[test]
fn a_large_session_is_shortened_at_once_and_as_forecast() {
    let (bytes, times) = if is_long() { (50_000_000, 5) } else { (2_000_000, 1) };
    let (world, session) = play(bytes, is_long().then(release));
    let tui = world.tui(&["--resume", &session]);
    let (mut there, mut back) = (Vec::new(), Vec::new());
    for _ in 0..times {
        let proposal = || state(&world, &session, "succession").map(|made| made["since"].clone());
        let before = proposal();
        tui.prompt("/brain-guard:slim");
        world.wait("proposal", || (proposal() != before).then_some(()));
        tui.wait_screen("the proposal", |screen| screen.contains(PROPOSED));
        tui.wait_idle();
        there.push(switch(&world, &tui, "/brain-guard:slim yes", DONE));
        let made = state(&world, &session, "succession").expect("a succession");
        let forecast = made["cost"]["after"].as_u64().expect("a forecast");
        let sent = world.mock.main().len();
        tui.prompt("and now?");
        let sent = size(&world.mock.wait_main(sent + 1));
        tui.wait_idle();
        let error = (forecast as f64 / sent as f64 - 1.0) * 100.0;
        println!("{forecast} tokens as forecast, {sent} sent: {error:.1} %");
        assert!(error.abs() <= MOST, "{error:.1} %");
        back.push(switch(&world, &tui, "/brain-guard:undo", BACK));
    }
    tui.quit();
    for (name, times) in [("there", &there), ("back", &back)] {
        for Times { all, steps } in times {
            println!("{name}: {} ms ({steps})", all.as_millis());
        }
    }
    let (there, back) = (median(&mut there), median(&mut back));
    println!("median there {} ms, back {} ms", there.as_millis(), back.as_millis());
    if is_long() {
        assert!(there <= GOAL && back <= GOAL, "median there {there:?}, back {back:?}");
    }
}
