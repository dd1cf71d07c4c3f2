//! Sessions of each form that the client writes: compacted, summarized in part, rewound, forked, and
//! files whose rows are not in order. For each, the client's next request says what `rounds` should
//! name, and what must be there after any operation.
//!
//! `./test --all` plays one random sequence of five operations on each form; `./test --long` plays four,
//! and each operation twice in a row.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::block::{Block, blocks_of_request};
use super::figures::{MOST, size, tokens};
use super::is_long;
use super::live::id;
use super::pairs::{has_whole_pairs, reference};
use super::played::guard;
use super::random::{Dice, asked, end_of};
use crate::support::client::Tui;
use crate::support::mock::{Reply, Request};
use crate::support::world::World;

/// How the client begins a summary.
const SUMMARY: &str = "This session is being continued";

/// The prompts of a session that is merged with the others.
const OTHER: [u32; 3] = [901, 902, 903];

#[derive(Debug, Clone, Copy)]
enum Operation {
    Before,
    Engagement,
    Part,
    Split,
    Edit,
    Extract,
    Merge,
    Omit,
}

const ALL: [Operation; 8] = [
    Operation::Before,
    Operation::Engagement,
    Operation::Part,
    Operation::Split,
    Operation::Edit,
    Operation::Extract,
    Operation::Merge,
    Operation::Omit,
];

/// An agent that reads each part by a command or, if its number is even, from a file.
fn agent(request: &Request) -> Reply {
    let texts = request.user_texts();
    let part = texts.iter().rev().find_map(|text| asked(text)).unwrap_or("0").trim().to_owned();
    let reply = match asked(request.prompt()) {
        Some(_) if request.tool_results().is_empty() => {
            let is_even = part.parse::<u32>().is_ok_and(|part| part % 2 == 0);
            let (tool, input) = if is_even {
                ("Read", json!({"file_path": format!("part-{part}.txt")}))
            } else {
                let command =
                    format!("for i in $(seq 1 60); do echo \"part {part}, line $i of many\"; done");
                ("Bash", json!({"command": command, "description": format!("Read part {part}")}))
            };
            Reply::thinking(format!("where is part {part}?")).and_tool(tool, input)
        }
        _ => Reply::text(end_of(&part)),
    };
    reply.tokens(size(request)).output(40)
}

/// What the test looks for in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Asked(u32),
    Said(u32),
    Summary,
}

impl Item {
    fn of(block: &Block) -> Option<Self> {
        match block {
            Block::User(text) if text.starts_with(SUMMARY) => Some(Self::Summary),
            Block::User(text) => Some(Self::Asked(asked(text)?.trim().parse().ok()?)),
            Block::Agent(text) => {
                let part = text.strip_prefix("part ")?.strip_suffix(" is read to its end")?;
                Some(Self::Said(part.parse().ok()?))
            }
            _ => None,
        }
    }

    fn part(self) -> Option<u32> {
        match self {
            Self::Asked(part) | Self::Said(part) => Some(part),
            Self::Summary => None,
        }
    }
}

fn items(request: &Request) -> Vec<Item> {
    blocks_of_request(request).iter().filter_map(Item::of).collect()
}

/// A client in a terminal, playing a session.
struct Playing<'a> {
    world: &'a World,
    tui: Tui,
}

impl<'a> Playing<'a> {
    fn begin(world: &'a World, arguments: &[&str]) -> Self {
        Self { world, tui: world.tui(arguments) }
    }

    fn ask(&self, parts: impl IntoIterator<Item = u32>) {
        for part in parts {
            let before = self.world.mock.main().len();
            file_of(self.world, part);
            self.tui.prompt(&format!("read part {part}"));
            self.world.mock.wait_main(before + 2);
            self.tui.wait_idle();
        }
    }

    fn compact(&self) {
        self.tui.prompt("/compact");
        self.tui.wait_screen("the compaction", |screen| screen.contains("Compacted"));
        self.tui.wait_idle();
    }

    /// Chooses a message of the list in `/rewind`, counted from the last, and what to do there.
    fn rewind(&self, back: usize, choice: &str, done: &str) {
        self.tui.prompt("/rewind");
        self.tui.wait_screen("the rounds", |screen| screen.contains("❯ (current)"));
        for _ in 0..back {
            self.tui.keys("Up");
        }
        self.tui.keys("Enter");
        self.tui.wait_screen("the choices", |screen| screen.contains(choice));
        for _ in 0..8 {
            let screen = self.tui.screen();
            if screen.lines().any(|line| line.contains('❯') && line.contains(choice)) {
                break;
            }
            self.tui.keys("Down");
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        self.tui.keys("Enter");
        self.tui.wait_screen(choice, |screen| screen.contains(done));
        self.tui.wait_idle();
        // The client may have put the prompt back into the box.
        self.tui.keys("C-u");
    }

    /// Ends the client; returns the newest session.
    fn quit(self) -> String {
        self.tui.quit();
        newest(self.world)
    }
}

fn newest(world: &World) -> String {
    let changed = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
    let newest = world.transcripts().into_iter().max_by_key(|path| changed(path));
    id(&newest.expect("a transcript"))
}

/// The file that an even part is read from.
fn file_of(world: &World, part: u32) {
    let lines: Vec<String> = (1..=60).map(|n| format!("part {part}, line {n} of many")).collect();
    let path = world.project().join(format!("part-{part}.txt"));
    fs::write(path, lines.join("\n")).expect("the project is writable");
}

/// Changes the rows of a session's file.
fn rewrite(world: &World, session: &str, change: impl Fn(&mut Vec<Value>)) {
    let all = world.transcripts();
    let path = all.into_iter().find(|path| id(path) == session).expect("the session's file");
    let text = fs::read_to_string(&path).expect("a transcript");
    let mut rows: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    change(&mut rows);
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    fs::write(path, lines.join("\n") + "\n").expect("the transcript is writable");
}

fn row_of(rows: &[Value], prompt: &str) -> usize {
    let is = |row: &Value| row["type"] == "user" && row["message"]["content"] == prompt;
    rows.iter().position(is).expect("the prompt's row")
}

struct Walk<'a> {
    world: &'a World,
    other: String,
    session: String,
    /// What the client sent last, with the answer.
    items: Vec<Item>,
    next_part: u32,
    /// The tag that each part got last.
    tags: BTreeMap<u32, String>,
    dice: Dice,
    done: Vec<String>,
    /// The tokens of system prompt and tools. The session was played in a terminal; where nothing of
    /// its tools is left, `--print` sends fewer.
    base: u64,
    /// What was shown for a session, by the operation and by `advise`, and what the client sent.
    figures: Vec<(u64, u64)>,
}

impl Walk<'_> {
    fn fail(&self, why: &str, request: &Request) -> ! {
        let log = blocks_of_request(request)
            .iter()
            .map(|block| crate::support::evidence::short(&format!("{block:?}"), 150))
            .collect::<Vec<_>>()
            .join("\n");
        self.world
            .evidence
            .fail(&format!("{:?}: {why}\nbefore: {:?}\n{log}", self.done, self.items))
    }

    /// Goes on in the session with one more round; returns the first request.
    fn go_on(&mut self) -> Arc<Request> {
        let part = self.next_part;
        self.next_part += 1;
        file_of(self.world, part);
        let before = self.world.mock.main().len();
        let prompt = format!("read part {part}");
        let output = self.world.print(&["--resume", &self.session], &prompt).finish();
        assert!(output.status.success(), "{:?}: {output:?}", self.done);
        self.world.mock.main()[before].clone()
    }

    /// Notes what a request has, and the answer to it.
    fn note(&mut self, request: &Request) {
        self.items = items(request);
        self.items.push(Item::Said(self.next_part - 1));
    }

    /// The rounds in the context: number and part. Each has the tag that it got last.
    fn rounds(&self) -> Vec<(u64, u32)> {
        let listed = guard(self.world, &["rounds", &self.session, "--json"]).stdout;
        let listed: Value = serde_json::from_str(&listed).expect("JSON");
        let rounds = listed["rounds"].as_array().expect("rounds").iter();
        let of = |round: &Value| {
            let part = asked(round["summary"].as_str()?)?.trim().parse().ok()?;
            let tag = self.tags.get(&part).map(String::as_str);
            assert_eq!(round["engagement"].as_str(), tag, "{:?}: part {part}", self.done);
            Some((round["round"].as_u64()?, part))
        };
        rounds.filter(|round| round["state"] == "in_context").filter_map(of).collect()
    }

    /// `rounds` names what the client sends.
    fn listed(&self) {
        let listed: BTreeSet<u32> = self.rounds().into_iter().map(|(_, part)| part).collect();
        let asked = self.items.iter().filter_map(|item| match item {
            Item::Asked(part) => Some(*part),
            _ => None,
        });
        assert_eq!(
            listed,
            asked.collect(),
            "{:?}: rounds and request: {:?}",
            self.done,
            self.items
        );
    }

    fn file(&self, text: &str) -> String {
        let path = self.world.project().join("plan.txt");
        fs::write(&path, text).expect("the project is writable");
        path.display().to_string()
    }

    /// Runs an operation, goes on in the first session that it made, and returns what it says of it.
    fn made(&mut self, arguments: &[&str]) -> u64 {
        self.done.push(arguments[1..].join(" "));
        let told = guard(self.world, &[arguments, &["--json"]].concat()).stdout;
        let told: Value = serde_json::from_str(&told).expect("JSON");
        let first = told["sessions"].get(0).unwrap_or(&told);
        first["id"].as_str().expect("an id").clone_into(&mut self.session);
        first["tokens"]["after"].as_u64().unwrap_or_else(|| panic!("no figure in {told}"))
    }

    fn tag(&mut self, rounds: &[(u64, u32)], name: &str) {
        let numbers = numbers(rounds);
        guard(self.world, &["tag", &self.session, &numbers, name]);
        self.tags.extend(rounds.iter().map(|(_, part)| (*part, name.to_owned())));
    }

    /// An operation on random rounds; `None` if it doesn't fit.
    fn operate(&mut self, operation: Operation) -> Option<()> {
        let all = self.rounds();
        let session = self.session.clone();
        let one = all.len();
        let mut pick = |from: usize| all[from + self.dice.below(one - from)];
        let (some, more) = (pick(1), pick(0));
        let mut promised: BTreeSet<u32> =
            self.items.iter().filter_map(|item| item.part()).collect();
        let mut is_part = false;
        let name = format!("work-{}", self.next_part);
        let shown = match operation {
            Operation::Before => {
                self.made(&["surgery", "compress-before", &session, &format!("round:{}", some.0)])
            }
            Operation::Engagement => {
                self.tag(&[more], &name);
                self.made(&["surgery", "compress-engagement", &session, &name])
            }
            Operation::Part => {
                let from = self.dice.below(one.saturating_sub(2).max(1));
                let own = &all[from..];
                self.tag(own, &name);
                promised = own.iter().map(|(_, part)| *part).collect();
                is_part = true;
                self.made(&["surgery", "extract-engagement", &session, &name])
            }
            Operation::Split => {
                let (last, rest) = all.split_last()?;
                promised = rest.iter().map(|(_, part)| *part).collect();
                is_part = true;
                if self.dice.below(2) == 0 {
                    self.tag(&all, "z");
                    self.tag(rest, "a");
                    self.made(&["surgery", "split", &session, "--by-tag"])
                } else {
                    let map = json!({"engagements": {"a": numbers(rest), "z": last.0.to_string()}});
                    let map = self.file(&map.to_string());
                    let tags = rest.iter().map(|(_, part)| (*part, "a".to_owned()));
                    self.tags.extend(tags.chain([(last.1, "z".to_owned())]));
                    self.made(&["surgery", "split", &session, &map])
                }
            }
            Operation::Edit => {
                let list = if some == more {
                    format!("index {}\n", some.0)
                } else {
                    format!("shrink {}\nindex {}\n", some.0, more.0)
                };
                let list = self.file(&list);
                self.made(&["surgery", "edit", &session, "--plan", &list])
            }
            Operation::Extract => {
                let words = [
                    "extract",
                    "run",
                    &session,
                    "--again",
                    "--keep-recent",
                    "1",
                    "--min-length",
                    "40",
                ];
                let dry = self.world.guard(&[&words[..], &["--dry-run", "--json"]].concat());
                let dry: Value = serde_json::from_str(&dry.stdout).unwrap_or_default();
                dry["tokens"].as_object()?;
                self.made(&words)
            }
            Operation::Omit => {
                let at = format!("round:{}", some.0);
                let less = ["--tool-use", "summary", "--tool-result", "omit"];
                self.made(&[&["surgery", "compress-before", &session, &at][..], &less].concat())
            }
            Operation::Merge => {
                let other = self.other.clone();
                promised.extend(OTHER);
                self.made(&["surgery", "merge", &session, &other])
            }
        };
        let advised = guard(self.world, &["advise", &self.session, "--json"]).stdout;
        let advised: Value = serde_json::from_str(&advised).expect("JSON");
        let request = self.check(&promised, is_part);
        let figures = [shown, advised["tokens"].as_u64().expect("the context's tokens")];
        let sent = self.base + tokens(&request.body["messages"]);
        self.figures.extend(figures.map(|figure| (figure, sent)));
        Some(())
    }

    /// Five operations in a row.
    fn at_random(&mut self) {
        let mut done = 0;
        while done < 5 {
            let operation = ALL[self.dice.below(ALL.len())];
            done += usize::from(self.operate(operation).is_some());
        }
    }

    /// Each operation on the session, and again on what it made.
    fn twice(&mut self) {
        let (session, items) = (self.session.clone(), self.items.clone());
        for operation in ALL {
            self.operate(operation);
            self.operate(operation);
            self.done.truncate(1);
            self.session.clone_from(&session);
            self.items.clone_from(&items);
        }
    }

    /// Resumes what was made: what was promised is there once and in order, or in a table.
    fn check(&mut self, promised: &BTreeSet<u32>, is_part: bool) -> Arc<Request> {
        let request = self.go_on();
        if !has_whole_pairs(&request) {
            self.fail("a call without a result, or a result without a call", &request);
        }
        let now = items(&request);
        let mut at = 0;
        // In one of several successors, what belongs to none of them comes first.
        let is_placed =
            |item: &Item| self.items.contains(item) && !(is_part && matches!(item, Item::Summary));
        let known: Vec<Item> = now.iter().copied().filter(is_placed).collect();
        for item in &known {
            match self.items[at..].iter().position(|before| before == item) {
                Some(found) => at += found + 1,
                None => self.fail(&format!("{item:?} is there twice or out of order"), &request),
            }
        }
        let there: BTreeSet<u32> = now
            .iter()
            .filter_map(|item| match item {
                Item::Said(part) => Some(*part),
                _ => None,
            })
            .collect();
        for part in promised.difference(&there) {
            let Some(line) = reference(&request, &end_of(&part.to_string())) else {
                self.fail(&format!("part {part} is nowhere"), &request);
            };
            let page = guard(self.world, &["show", &line]).stdout;
            assert!(page.contains(&format!("read part {part}")), "{line}: {page}");
        }
        let half = |item: &&Item| {
            item.part().is_some_and(|part| there.contains(&part)) && !now.contains(item)
        };
        if let Some(item) = self.items.iter().find(half) {
            self.fail(&format!("{item:?} is missing"), &request);
        }
        let lost = self.items.contains(&Item::Summary) && !now.contains(&Item::Summary);
        if lost && !is_part && !request.said("continued from a previous") {
            self.fail("the summary is nowhere", &request);
        }
        self.note(&request);
        self.listed();
        request
    }
}

fn numbers(rounds: &[(u64, u32)]) -> String {
    rounds.iter().map(|(number, _)| number.to_string()).collect::<Vec<_>>().join(",")
}

/// Plays sessions of a form and random operations on them.
fn walk(form: &str, play: impl Fn(&World) -> String) {
    let sequences = if is_long() { 4 } else { 1_u64 };
    for seed in 1..=sequences {
        let world = &World::build().strict().bare().agent(agent).start();
        let mut run = world.stream(&[]);
        for part in OTHER {
            file_of(world, part);
            run.say(&format!("read part {part}"));
            let end = end_of(&part.to_string());
            run.wait_json("the turn's end", |line| {
                line["type"] == "result" && line["result"] == end
            });
        }
        assert!(run.finish().status.success());
        let other = newest(world);
        let session = play(world);
        assert_ne!(session, other);
        let seeded = form.bytes().fold(seed, |sum, byte| sum * 31 + u64::from(byte));
        let mut walk = Walk {
            world,
            other,
            session,
            items: Vec::new(),
            next_part: 20,
            tags: BTreeMap::new(),
            dice: Dice(seeded),
            done: vec![form.to_owned()],
            base: 0,
            figures: Vec::new(),
        };
        let request = walk.go_on();
        walk.base = ["system", "tools"].map(|part| tokens(&request.body[part])).iter().sum();
        walk.note(&request);
        walk.listed();
        // Where the client moved or lost rounds, it sends thinking itself that is refused.
        let own = world.mock.refused().len();
        if is_long() && seed == 1 {
            walk.twice();
        }
        walk.at_random();
        let error = |(shown, sent): &(u64, u64)| (*shown as f64 / *sent as f64 - 1.0) * 100.0;
        let errors: Vec<f64> = walk.figures.iter().map(error).collect();
        assert_eq!(world.mock.refused().len(), own, "{:?}: thinking is refused", walk.done);
        let wrong = errors.iter().filter(|error| error.abs() > MOST).count();
        let is_far = errors.iter().any(|error| !(-33.0..=50.0).contains(error));
        assert!(
            wrong * 20 <= errors.len() && !is_far,
            "{:?}: {errors:.1?} percent: {:?}",
            walk.done,
            walk.figures
        );
    }
}

#[test]
fn a_plain_session() {
    walk("plain", |world| {
        let playing = Playing::begin(world, &[]);
        playing.ask(1..=5);
        playing.quit()
    });
}

#[test]
fn a_compacted_session_with_files_put_back() {
    walk("compacted", |world| {
        let playing = Playing::begin(world, &[]);
        playing.ask(1..=4);
        playing.compact();
        playing.ask(5..=7);
        playing.quit()
    });
}

#[test]
fn a_session_compacted_twice_in_one_process() {
    walk("twice", |world| {
        let playing = Playing::begin(world, &[]);
        playing.ask(1..=3);
        playing.compact();
        playing.ask(4..=5);
        playing.compact();
        playing.ask(6..=8);
        playing.quit()
    });
}

#[test]
fn a_session_summarized_up_to_a_message() {
    walk("up to here", |world| {
        let playing = Playing::begin(world, &[]);
        playing.ask(1..=5);
        playing.rewind(3, "Summarize up to here", "ummarized");
        playing.ask(6..=7);
        playing.quit()
    });
}

#[test]
fn a_session_summarized_from_a_message() {
    walk("from here", |world| {
        let playing = Playing::begin(world, &[]);
        playing.ask(1..=5);
        playing.rewind(2, "Summarize from here", "ummarized");
        playing.ask(6..=7);
        playing.quit()
    });
}

#[test]
fn a_rewound_session() {
    walk("rewound", |world| {
        let playing = Playing::begin(world, &[]);
        playing.ask(1..=5);
        // In the box, which has another space than the conversation: that shows it before, too.
        playing.rewind(2, "Restore conversation", "❯\u{a0}read part 4");
        playing.ask(6..=7);
        playing.quit()
    });
}

#[test]
fn a_forked_session() {
    walk("forked", |world| {
        let playing = Playing::begin(world, &[]);
        playing.ask(1..=3);
        let first = playing.quit();
        let playing = Playing::begin(world, &["--resume", &first, "--fork-session"]);
        playing.ask(4..=6);
        let fork = playing.quit();
        assert_ne!(fork, first);
        fork
    });
}

fn plain(world: &World) -> String {
    let playing = Playing::begin(world, &[]);
    playing.ask(1..=5);
    playing.quit()
}

#[test]
fn a_session_with_rows_of_two_sessions() {
    walk("two ids", |world| {
        let session = plain(world);
        rewrite(world, &session, |rows| {
            let until = row_of(rows, "read part 3");
            for row in rows[..until].iter_mut().filter(|row| row["sessionId"].is_string()) {
                row["sessionId"] = json!("00000000-0000-4000-8000-00000000000a");
            }
        });
        session
    });
}

#[test]
fn a_session_with_rows_out_of_order() {
    walk("out of order", |world| {
        let session = plain(world);
        rewrite(world, &session, |rows| {
            let at = row_of(rows, "read part 3");
            let next = (at + 1..rows.len()).find(|at| rows[*at]["uuid"].is_string());
            rows.swap(at, next.expect("a row"));
        });
        session
    });
}

#[test]
fn a_session_with_a_row_missing() {
    walk("cut", |world| {
        let session = plain(world);
        rewrite(world, &session, |rows| {
            let at = row_of(rows, "read part 3");
            // For a row that is missing, the client takes one that was written just before.
            for row in rows[..at].iter_mut().filter(|row| row["timestamp"].is_string()) {
                row["timestamp"] = json!("2026-01-01T00:00:00.000Z");
            }
            let before = rows[at]["parentUuid"].clone();
            rows.retain(|row| row["uuid"] != before);
        });
        session
    });
}
