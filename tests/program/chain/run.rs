//! Runs the sessions through the real binary, with the events of client and module.

use std::fs;
use std::path::Path;

use notes::compaction::{Document, Shape, parse};
use serde_json::{Value, json};

use crate::chain::agent::{Agent, Later, Marked};
use crate::chain::note::Note;
use crate::chain::story::{Fact, Plan, Story};
use crate::support::hook::{Hook, shape_with_summary};

/// What one seal left on disk.
#[derive(Debug, Clone, Default)]
pub struct Version {
    pub raw: String,
    pub sealed: String,
    pub removed: String,
}

/// A session, and what it carried over.
#[derive(Debug, Clone, Default)]
pub struct Session {
    pub number: u32,
    /// Whether the seal asked for a condensed entry.
    pub asked: bool,
    pub versions: Vec<Version>,
    /// The text that starts the next session.
    pub delivered: String,
    pub pins: Vec<String>,
    pub directives: Vec<String>,
    pub open: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub struct Chain {
    pub sessions: Vec<Session>,
    pub facts: Vec<Fact>,
}

/// Plays this many sessions; the control raises the seal's limits, so that little is dropped.
pub fn run(seed: u64, sessions: u32, control: bool, agent: Agent) -> Chain {
    let mut hook = Hook::new();
    let mut settings = json!({
        "boundary": {"min_interval_seconds": 0, "max_per_hour": 10_000, "attended_notice_seconds": 0},
    });
    if control {
        settings["file"] = json!({"seal_target": 0.84, "shape": shape_with_summary(0.8)});
    }
    hook.settings(&settings);
    let mut story = Story::new(seed);
    let mut chain = Chain::default();
    hook.session = id(1);
    hook.start("startup");
    hook.prompt("Make the importer of the billing service fit for the new ledger, step by step.");
    for number in 1..=sessions {
        let before = fs::read_to_string(hook.file()).unwrap_or_default();
        let mut plan = story.session(number, sessions, &ids(&before));
        if agent != Agent::Summarizes {
            plan.summary.clear();
            plan.bursts.push(learned(number));
            change(&hook, number);
        }
        let (versions, asked) = work(&hook, &plan, &mut story, agent, number);
        let delivered = clear_and_deliver(&mut hook, number);
        chain.sessions.push(Session {
            number,
            asked,
            versions,
            delivered,
            pins: story.pins(),
            directives: story.directives(),
            open: story.open(),
        });
    }
    chain.facts = story.facts().to_vec();
    chain
}

fn id(number: u32) -> String {
    format!("5e550000-0000-4000-8000-{number:012}")
}

/// The ids of entries that a session may name.
fn ids(text: &str) -> Vec<String> {
    let shape = Shape::default();
    parse(text, &shape)
        .entries()
        .filter(|entry| !entry.closed)
        .map(|entry| entry.id.to_string())
        .collect()
}

/// The numbered facts that a session learns.
fn learned(session: u32) -> Vec<Note> {
    Marked::all().iter().filter(|fact| fact.session == session).map(Marked::note).collect()
}

/// Closes and corrects the facts that are due: closes a separate entry, edits a part of a condensed
/// one.
fn change(hook: &Hook, session: u32) {
    for fact in Marked::all().iter().filter(|fact| fact.changes_in() == Some(session)) {
        let text = fs::read_to_string(hook.file()).expect("the file");
        if fact.later == Later::Corrected {
            fs::write(hook.file(), text.replace(&fact.condensed(), &fact.corrected()))
                .expect("edited");
            continue;
        }
        let own = fact.note().text;
        let document = parse(&text, &Shape::default()).entries().any(|entry| entry.text == own);
        if document {
            close(hook, &[own]);
        } else {
            let without = text.replace(&format!("{}; ", fact.condensed()), "");
            let without = without.replace(&format!("; {}", fact.condensed()), "");
            fs::write(hook.file(), without).expect("edited");
        }
    }
}

/// The session's work up to its seal. Returns the sealed versions, and whether the seal asked for a
/// condensed entry.
fn work(
    hook: &Hook,
    plan: &Plan,
    story: &mut Story,
    agent: Agent,
    number: u32,
) -> (Vec<Version>, bool) {
    let said = |answer: crate::support::hook::Answer| {
        assert_eq!(answer.code, Some(0), "{answer:?}");
    };
    close(hook, &plan.close);
    let sealed = last_version(hook);
    for (index, burst) in plan.bursts.iter().enumerate().filter(|(_, burst)| !burst.is_empty()) {
        said(hook.agent(&append(burst)));
        if plan.seals_halfway && index == plan.bursts.len() / 2 {
            seal(hook, story, agent, number, "--no-clear", &[]);
        }
    }
    if let Some((before, after)) = &plan.edit {
        let text = fs::read_to_string(hook.file()).expect("the file");
        fs::write(hook.file(), text.replacen(before, after, 1)).expect("edited");
    }
    // Without the hook, which may cut a long answer.
    let asked = hook.raw(&["seal", "--dry-run", "--json", "--session", &hook.session], b"");
    let dry: Value =
        serde_json::from_str(&asked.stdout).unwrap_or_else(|e| panic!("{e}: {asked:?}"));
    let count = |key: &str| dry[key].as_u64().expect("a count") as usize;
    let over = count("kept").saturating_sub(count("target"));
    close(hook, &story.tidy(over));
    let asked = seal(hook, story, agent, number, "--clear", &plan.summary);
    let versions = (sealed + 1..=last_version(hook)).map(|number| version(hook, number)).collect();
    (versions, asked)
}

/// Seals, and answers the seal's question like this agent. Returns whether it was asked for a
/// condensed entry.
fn seal(
    hook: &Hook,
    story: &mut Story,
    agent: Agent,
    number: u32,
    flag: &str,
    summary: &[String],
) -> bool {
    let with = |summary: &str| {
        if summary.is_empty() {
            format!("brain-guard seal {flag}")
        } else {
            format!("brain-guard seal {flag} --summary - <<'EOF'\n{summary}EOF")
        }
    };
    let first = hook.agent(&with(&list(summary.iter().map(String::as_str))));
    if first.code == Some(1) {
        let closes = agent.closes(&first.stderr);
        close(hook, &story.tidy(closes));
        let answer = agent.answer(&first.stderr, number, closes).unwrap_or_default();
        let answer = list([answer.as_str()].into_iter().filter(|text| !text.is_empty()));
        let second = hook.agent(&with(&answer));
        assert_eq!(second.code, Some(0), "{second:?}");
    } else {
        assert_eq!(first.code, Some(0), "{first:?}");
    }
    first.stderr.contains("with one entry of at most")
}

/// One command with an append for each kind, each a list on stdin.
fn append(burst: &[Note]) -> String {
    let mut kinds: Vec<&str> = burst.iter().map(|note| note.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let of = |kind: &str| {
        list(burst.iter().filter(|note| note.kind == kind).map(|note| note.text.as_str()))
    };
    let calls = kinds
        .iter()
        .map(|kind| format!("brain-guard append --kind {kind} <<'EOF'\n{}EOF", of(kind)));
    calls.collect::<Vec<_>>().join("\n")
}

/// A Markdown list that ends with a newline.
fn list<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.flat_map(|text| ["- ", text, "\n"]).collect()
}

/// Closes entries by the ids that `close` lists.
fn close(hook: &Hook, texts: &[String]) {
    if texts.is_empty() {
        return;
    }
    let file = fs::read_to_string(hook.file()).expect("the file");
    let shape = Shape::default();
    let document: Document = parse(&file, &shape);
    let calls: Vec<String> = texts
        .iter()
        .map(|text| {
            let entry = document.entries().find(|entry| !entry.closed && same(&entry.text, text));
            let entry = entry.unwrap_or_else(|| panic!("{text:?} is not in {file}"));
            format!("brain-guard close {}", entry.id)
        })
        .collect();
    let answer = hook.agent(&calls.join(" && "));
    assert_eq!(answer.code, Some(0), "{answer:?}");
}

/// Whether an entry has this text, with or without a kind in front.
fn same(entry: &str, text: &str) -> bool {
    entry == text || entry.strip_prefix("directive: ").is_some_and(|rest| rest == text)
}

fn sealed_folder(hook: &Hook) -> std::path::PathBuf {
    hook.file().with_file_name("sealed")
}

fn last_version(hook: &Hook) -> u64 {
    let numbers =
        fs::read_dir(sealed_folder(hook)).into_iter().flatten().flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_prefix('v')?.split('.').next()?.parse().ok()
        });
    numbers.max().unwrap_or(0)
}

fn version(hook: &Hook, number: u64) -> Version {
    let at = sealed_folder(hook).join(format!("v{number:04}"));
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    Version {
        raw: read(&at.with_extension("raw.md")),
        sealed: read(&at.with_extension("md")),
        removed: read(&at.with_extension("removed.md")),
    }
}

/// Ends the turn, clears, and takes the delivery, like the plugin's module.
fn clear_and_deliver(hook: &mut Hook, number: u32) -> String {
    assert_eq!(hook.stop().code, Some(0));
    let action = step(hook, &json!({"event": "turn-complete", "answered": true}));
    assert_eq!(action["action"], "clear", "{action}");
    hook.session = id(number + 1);
    assert_eq!(hook.start("clear").code, Some(0));
    let action = step(hook, &json!({"event": "cleared"}));
    assert_eq!(action["action"], "submit", "{action}");
    let text = action["text"].as_str().expect("a text").to_owned();
    step(hook, &json!({"event": "submitted"}));
    assert_eq!(hook.prompt(&text).code, Some(0));
    // The first call confirms the delivery.
    assert_eq!(hook.read().verdict(), "pass");
    text
}

fn step(hook: &Hook, report: &Value) -> Value {
    let mut report = report.clone();
    report["session_id"] = json!(hook.session);
    hook.raw(&["mod", "step"], report.to_string().as_bytes()).json()
}

/// Counts words like the guard, for the chain's plain text.
pub fn words(text: &str) -> usize {
    let counts = |run: &&str| *run != "[x]" && run.chars().any(char::is_alphanumeric);
    text.split_whitespace().filter(counts).count()
}
