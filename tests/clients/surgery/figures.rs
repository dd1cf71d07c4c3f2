//! Whether the tokens that operations show are those of the client's next request. The mock reports
//! the size of each request by a tokenizer, and the test counts with the same one. The program has
//! another one, because it does not have the API's.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::played::{guard, resume};
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

/// By how much a figure may be wrong, in percent.
pub(super) const MOST: f64 = 15.0;

/// What the user asks for: a file with that many lines, or only words.
const READ: &str = "read section ";
const READ_LONG: &str = "read long section ";
const SAY: &str = "describe section ";
const WRITE: &str = "write section ";

/// What the agent says at the end of a round.
fn answer(round: &str) -> String {
    format!("All lines of section {round} are there; the last one closes it, as it should.")
}

/// The tokens of a request.
pub(super) fn size(request: &Request) -> u64 {
    let body = &request.body;
    [&body["system"], &body["tools"], &body["messages"]].into_iter().map(tokens).sum()
}

/// The tokens of a part of a request.
pub(super) fn tokens(part: &Value) -> u64 {
    tiktoken_rs::o200k_base_singleton().count_ordinary(&part.to_string()) as u64
}

/// The number of a round, and the lines to read in it.
fn asked(text: &str) -> Option<(&str, u32)> {
    let of = |start, lines| text.strip_prefix(start).map(|round| (round, lines));
    of(READ, 90).or_else(|| of(READ_LONG, 700)).or_else(|| of(SAY, 0)).or_else(|| of(WRITE, 120))
}

/// An agent that runs a command for each prompt of a round, and says what it found.
fn agent(request: &Request) -> Reply {
    let texts = request.user_texts();
    let round = texts.iter().rev().find_map(|text| asked(text));
    let reply = match (round, asked(request.prompt())) {
        (Some((round, _)), None) if !request.tool_results().is_empty() => {
            Reply::thinking("The output says what I expected, so this part is finished. ".repeat(4))
                .and_text(answer(round))
        }
        (_, Some((round, 0))) => Reply::text(answer(round)),
        (_, Some((round, lines))) if request.prompt().starts_with(WRITE) => {
            let line =
                |n| format!("    check_section_{round}(line_{n}, \"the quick brown fox\");\n");
            let content: String = (0..lines).map(line).collect();
            let input = json!({"file_path": format!("section_{round}.rs"), "content": content});
            Reply::text("I write it now.").and_tool("Write", input)
        }
        (_, Some((round, lines))) => {
            let command = format!(
                "for i in $(seq 1 {lines}); do echo \"section {round}, line $i: the quick brown fox jumps over the lazy dog\"; done"
            );
            let input = json!({"command": command, "description": format!("Read section {round}")});
            Reply::text("I read it now.").and_tool("Bash", input)
        }
        _ => Reply::text("done"),
    };
    reply.tokens(size(request)).output(40)
}

/// Plays rounds in a new session, or in the fork of one; returns its id.
fn play(world: &World, arguments: &[&str], prompts: &[String]) -> String {
    let before = world.transcripts();
    let mut run = world.stream(arguments);
    for prompt in prompts {
        run.say(prompt);
        let said = asked(prompt).map(|(round, _)| answer(round));
        run.wait_json("the turn's end", |line| {
            line["type"] == "result"
                && said.as_ref().is_none_or(|said| line["result"] == said.as_str())
        });
    }
    assert!(run.finish().status.success());
    let mut paths = world.transcripts();
    paths.retain(|path| !before.contains(path));
    let path = paths.pop().expect("a transcript");
    path.file_stem().and_then(|name| name.to_str()).expect("an id").to_owned()
}

/// The prompts of these rounds.
fn rounds(start: &str, numbers: std::ops::RangeInclusive<u32>) -> Vec<String> {
    numbers.map(|number| format!("{start}{number}")).collect()
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

/// The cases of one session: each operation, each fidelity, and the session itself.
fn cases(world: &World, one: &str, other: &str) -> Vec<Case> {
    let listed = guard(world, &["rounds", one, "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).expect("JSON");
    let last = listed["rounds"].as_array().expect("rounds").len();
    let cut = last - 2;
    guard(world, &["tag", one, &format!("1-{}", cut - 1), "early"]);
    guard(world, &["tag", one, &format!("{cut}-{last}"), "late"]);
    let map = world.project().join("map.json");
    let text =
        json!({"engagements": {"early": format!("{}", cut - 1), "late": format!("{cut}-{last}")}});
    std::fs::write(&map, text.to_string()).expect("the project is writable");
    let (map, at) = (map.display().to_string(), format!("round:{cut}"));
    let run = |arguments: &[&str]| -> Vec<Value> {
        let output = guard(world, &[arguments, &["--json"]].concat());
        let made: Value = serde_json::from_str(&output.stdout).expect("JSON");
        made["sessions"].as_array().cloned().unwrap_or_else(|| vec![made])
    };
    let reduced = |level: &'static str, thinking: &'static str| {
        let flags = ["--thinking", thinking, "--tool-use", level, "--tool-result", level];
        [&["surgery", "compress-before", one, &at][..], &flags].concat()
    };
    let mut cases = Vec::new();
    let mut now = None;
    for arguments in [
        vec!["surgery", "compress-before", one, &at],
        vec!["surgery", "compress-engagement", one, "early"],
        vec!["surgery", "extract-engagement", one, "late"],
        vec!["surgery", "merge", one, other],
        vec!["surgery", "split", one, &map],
        reduced("summary", "ref"),
        reduced("omit", "omit"),
        vec!["extract", "run", one, "--keep-recent", "4"],
    ] {
        for made in run(&arguments) {
            // A session without long values is not extracted.
            let Some(id) = made["id"].as_str() else { continue };
            let sent = size(&resume(world, id));
            if arguments[1] != "merge" {
                now = Some(shown(&made, "before"));
            }
            cases.push(Case { what: arguments[1..].join(" "), shown: shown(&made, "after"), sent });
            if arguments[1] == "compress-before" && arguments.len() == 4 {
                // What surgery made, went on, and is compressed again.
                let again = run(&["surgery", "compress-before", id, "round:3"]).remove(0);
                let what = "compressed again, now".to_owned();
                cases.push(Case { what, shown: shown(&again, "before"), sent });
                let sent = size(&resume(world, again["id"].as_str().expect("an id")));
                let what = "compressed again, after".to_owned();
                cases.push(Case { what, shown: shown(&again, "after"), sent });
            }
        }
    }
    // The session itself goes on last, because that changes it.
    let sent = size(&resume(world, one));
    cases.push(Case { what: "now".to_owned(), shown: now.expect("a figure"), sent });
    cases
}

#[test]
fn figures_are_those_of_the_next_request() {
    let world = &World::build().bare().agent(agent).start();
    let read = play(world, &[], &rounds(READ, 1..=10));
    let short = play(world, &[], &rounds(READ, 11..=14));
    let long = play(world, &[], &rounds(READ_LONG, 21..=25));
    let words = play(world, &[], &rounds(SAY, 31..=50));
    let fork =
        |id: &str, prompts: &[String]| play(world, &["--resume", id, "--fork-session"], prompts);
    let forked = fork(&read, &rounds(READ, 61..=62));
    let compacted = [vec!["/compact".to_owned()], rounds(READ, 71..=74)].concat();
    let compacted = fork(&long, &compacted);
    let all = [
        ("short outputs", &read, &short),
        ("four rounds", &short, &words),
        ("long outputs", &long, &words),
        ("words only", &words, &short),
        ("a fork", &forked, &long),
        ("compacted", &compacted, &short),
    ];
    let (mut table, mut worst) = (String::new(), 0.0_f64);
    for (name, one, other) in all {
        for case in cases(world, one, other) {
            let error = case.error();
            worst = worst.max(error.abs());
            let Case { what, shown, sent } = &case;
            let _ =
                writeln!(table, "{shown:>7} shown {sent:>7} sent {error:>6.1} %  {name}: {what}");
        }
    }
    println!("{table}");
    assert!(worst <= MOST, "\n{table}");
}

/// Reading, writing, logs and talk: the tokens of the next request, without and with an extraction.
#[test]
fn an_extraction_saves_what_it_says() {
    let world = &World::build().bare().agent(agent).start();
    let (mut table, mut worst) = (String::new(), 0.0_f64);
    for (name, prompts) in [
        ("reading", rounds(READ, 1..=12)),
        ("writing", rounds(WRITE, 101..=112)),
        ("logs", rounds(READ_LONG, 21..=26)),
        ("talk", rounds(SAY, 31..=50)),
    ] {
        let id = play(world, &[], &prompts);
        let json = |verb| -> Value {
            let output = guard(world, &["extract", verb, &id, "--json"]);
            serde_json::from_str(&output.stdout).expect("JSON")
        };
        let (plan, made) = (json("plan"), json("run"));
        let after = made["id"].as_str().map(|new| size(&resume(world, new)));
        let before = size(&resume(world, &id));
        let Some(after) = after else {
            let _ = writeln!(table, "{before:>7} tokens, nothing to extract: {name}");
            assert_eq!((name, &plan["tokens"]), ("talk", &0.into()), "{plan}");
            continue;
        };
        assert_eq!(plan["pays_after"], made["tokens"]["pays_after"], "plan and run, {name}");
        for (what, shown, sent) in [
            ("before", shown(&made, "before"), before),
            ("after", shown(&made, "after"), after),
            ("planned", plan["tokens_after"].as_u64().expect("a figure"), after),
        ] {
            let case = Case { what: what.to_owned(), shown, sent };
            worst = worst.max(case.error().abs());
            let _ = writeln!(
                table,
                "{shown:>7} shown {sent:>7} sent {:>6.1} %  {name}: {what}",
                case.error()
            );
        }
    }
    println!("{table}");
    assert!(worst <= MOST, "\n{table}");
}
