//! Whether the tokens that operations show are those of the client's next request. The mock reports
//! the size of each request, and the test counts in the same unit.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::played::{guard, resume};
use crate::mock::{Reply, Request};
use crate::world::World;

/// Bytes of JSON per token, for the mock and for the test.
const BYTES_A_TOKEN: usize = 4;
/// By how much a figure may be wrong, in percent.
const MOST: f64 = 15.0;

const PROMPT: &str = "read section ";

/// What the agent says at the end of a round.
fn answer(round: &str) -> String {
    format!("All lines of section {round} are there; the last one closes it, as it should.")
}

/// The tokens of a request.
fn size(request: &Request) -> u64 {
    let body = &request.body;
    let bytes =
        [&body["system"], &body["tools"], &body["messages"]].map(|part| part.to_string().len());
    (bytes.iter().sum::<usize>() / BYTES_A_TOKEN) as u64
}

/// An agent that runs a command for each prompt of a round, and says what it found.
fn agent(request: &Request) -> Reply {
    let texts = request.user_texts();
    let round = texts.iter().rev().find_map(|text| text.strip_prefix(PROMPT));
    let reply = if let Some(round) = round.filter(|_| !request.tool_results().is_empty()) {
        Reply::thinking("The output says what I expected, so this part is finished. ".repeat(4))
            .and_text(answer(round))
    } else if let Some(round) = request.prompt().strip_prefix(PROMPT) {
        let command = format!(
            "for i in $(seq 1 90); do echo \"section {round}, line $i: the quick brown fox jumps over the lazy dog\"; done"
        );
        let input = json!({"command": command, "description": format!("Read section {round}")});
        Reply::text("I read it now.").and_tool("Bash", input)
    } else {
        Reply::text("done")
    };
    reply.tokens(size(request)).output(40)
}

/// Plays a session of that many rounds; returns its id.
fn play(world: &World, rounds: usize) -> String {
    let before = world.transcripts();
    let mut run = world.stream(&[]);
    for round in 1..=rounds {
        run.say(&format!("{PROMPT}{round}"));
        let said = answer(&round.to_string());
        run.wait_json("the turn's end", |line| line["type"] == "result" && line["result"] == said);
    }
    assert!(run.finish().status.success());
    let mut paths = world.transcripts();
    paths.retain(|path| !before.contains(path));
    let path = paths.pop().expect("a transcript");
    path.file_stem().and_then(|name| name.to_str()).expect("an id").to_owned()
}

/// A resumed session: what was shown for it, and what the client sent.
struct Case {
    what: String,
    shown: u64,
    sent: u64,
}

impl Case {
    fn error(&self) -> f64 {
        (self.shown as f64 / self.sent as f64 - 1.0) * 100.0
    }
}

fn shown(made: &Value, name: &str) -> u64 {
    made["tokens"][name].as_u64().unwrap_or_else(|| panic!("{name} in {made}"))
}

#[test]
fn figures_are_those_of_the_next_request() {
    let world = World::build().bare().agent(agent).start();
    let (one, other) = (play(&world, 10), play(&world, 4));
    let one = one.as_str();
    guard(&world, &["tag", one, "1-4", "early"]);
    guard(&world, &["tag", one, "5-10", "late"]);
    let map = world.project().join("map.json");
    let text = r#"{"shared": "1-3", "engagements": {"early": "4-6", "late": "7-10"}}"#;
    std::fs::write(&map, text).expect("the project is writable");
    let map = map.display().to_string();
    let run = |arguments: &[&str]| -> Vec<Value> {
        let output = guard(&world, &[arguments, &["--json"]].concat());
        let made: Value = serde_json::from_str(&output.stdout).expect("JSON");
        made.as_array().cloned().unwrap_or_else(|| vec![made])
    };
    let reduced = |level: &'static str, thinking: &'static str| {
        let flags = ["--thinking", thinking, "--tool-use", level, "--tool-result", level];
        [&["surgery", "compress-before", one, "round:4"][..], &flags].concat()
    };
    let mut cases = Vec::new();
    let mut now = None;
    for arguments in [
        vec!["surgery", "compress-before", one, "round:8"],
        vec!["surgery", "compress-engagement", one, "early"],
        vec!["surgery", "extract-engagement", one, "early"],
        vec!["surgery", "merge", one, &other],
        vec!["surgery", "split", one, &map],
        reduced("summary", "ref"),
        reduced("omit", "omit"),
        vec!["extract", "run", one, "--keep-recent", "4"],
    ] {
        for made in run(&arguments) {
            let id = made["id"].as_str().expect("an id");
            let sent = size(&resume(&world, id));
            now = Some(shown(&made, "before"));
            cases.push(Case { what: arguments[1..].join(" "), shown: shown(&made, "after"), sent });
            if arguments[1] == "compress-before" && arguments.len() == 4 {
                // What surgery made, went on, and is compressed again.
                let again = run(&["surgery", "compress-before", id, "round:3"]).remove(0);
                let what = "compressed again, now".to_owned();
                cases.push(Case { what, shown: shown(&again, "before"), sent });
                let sent = size(&resume(&world, again["id"].as_str().expect("an id")));
                let what = "compressed again, after".to_owned();
                cases.push(Case { what, shown: shown(&again, "after"), sent });
            }
        }
    }
    // The session itself goes on last, because that changes it.
    let sent = size(&resume(&world, one));
    cases.push(Case { what: "now".to_owned(), shown: now.expect("a figure"), sent });
    let mut table = String::new();
    for case in &cases {
        let Case { what, shown, sent } = case;
        let _ = writeln!(table, "{shown:>7} shown {sent:>7} sent {:>6.1} %  {what}", case.error());
    }
    println!("{table}");
    assert!(cases.iter().all(|case| case.error().abs() <= MOST), "\n{table}");
}
