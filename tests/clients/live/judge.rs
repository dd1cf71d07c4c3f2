//! Judges a session with the guard, by pure functions over transcripts, sealed files and log.

use std::collections::{BTreeMap, BTreeSet};

use notes::compaction::{self, Shape};
use serde::Serialize;
use serde_json::Value;

use super::read::{Event, Session, Usage};

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Verdict {
    pub sessions: usize,
    pub requests: usize,
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// One for each session that sealed or had a next session.
    pub crossings: Vec<Crossing>,
    /// Failures of the API or the client.
    pub failures: Vec<String>,
    /// Faults of the guard, from its log.
    pub faults: Vec<String>,
}

/// One boundary, from the first note to the next session.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Crossing {
    /// Tokens in the context at the first note and at the seal.
    pub tokens_at_note: Option<u64>,
    pub tokens_at_seal: Option<u64>,
    /// Tool calls from the first note to the seal, including the seal.
    pub calls_to_seal: Option<usize>,
    /// Denied calls by tool.
    pub denied: BTreeMap<String, usize>,
    pub evasions: Vec<Evasion>,
    /// Entries in each of the agent's sections.
    pub entries: BTreeMap<String, usize>,
    /// The agent's empty sections, and those that say why there is nothing.
    pub empty: Vec<String>,
    pub none: Vec<String>,
    pub words: Option<usize>,
    /// Whether the next session's first messages contain the complete sealed file.
    pub delivered: Option<bool>,
    pub next: Option<Next>,
}

/// The work of the next session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Next {
    pub calls: usize,
    /// The first calls, shortened.
    pub first: Vec<String>,
    /// Files read again that an earlier session had read.
    pub read_again: usize,
}

/// An attempt to get around the guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evasion {
    pub kind: &'static str,
    pub call: String,
}

impl Verdict {
    /// Whether a session sealed and the next one continued from the sealed notes.
    pub fn went_on(&self) -> bool {
        let on = |c: &Crossing| {
            c.delivered == Some(true) && c.next.as_ref().is_some_and(|n| n.calls > 0)
        };
        self.crossings.iter().any(on)
    }
}

/// Judges the sessions of a run, in order. `sealed` has the sealed versions by path, `log` the
/// guard's events.
pub fn judge(sessions: &[Session], sealed: &BTreeMap<String, String>, log: &[Value]) -> Verdict {
    let events = || sessions.iter().flat_map(|session| &session.events);
    let usages: Vec<Usage> = events()
        .filter_map(|event| if let Event::Response(usage) = event { Some(*usage) } else { None })
        .collect();
    let failures = events().filter_map(|event| match event {
        Event::Failure(text) => Some(text.clone()),
        _ => None,
    });
    let faults = log.iter().filter(|line| line["kind"] == "fault").map(Value::to_string);
    let mut crossings = Vec::new();
    for (at, session) in sessions.iter().enumerate() {
        let next = sessions.get(at + 1);
        let crossing = crossing(&sessions[..=at], next, sealed);
        if next.is_some() || crossing.calls_to_seal.is_some() || session.note().is_some() {
            crossings.push(crossing);
        }
    }
    Verdict {
        sessions: sessions.len(),
        requests: usages.len(),
        input_tokens: usages.iter().map(|usage| usage.input).sum(),
        cached_tokens: usages.iter().map(|usage| usage.cached).sum(),
        output_tokens: usages.iter().map(|usage| usage.output).sum(),
        crossings,
        failures: failures.collect(),
        faults: faults.collect(),
    }
}

fn crossing(
    so_far: &[Session],
    next: Option<&Session>,
    sealed: &BTreeMap<String, String>,
) -> Crossing {
    let Some((session, earlier)) = so_far.split_last() else { return Crossing::default() };
    let (note, seal) = (session.note(), session.seal());
    let calls = |from: usize, to: usize| {
        session.events[from..=to].iter().filter(|event| matches!(event, Event::Call { .. })).count()
    };
    let mut found = Crossing {
        tokens_at_note: note.map(|at| session.tokens(at)),
        tokens_at_seal: seal.as_ref().map(|(at, _)| session.tokens(*at)),
        calls_to_seal: note
            .zip(seal.as_ref())
            .map(|(note, (seal, _))| calls(note.min(*seal), *seal)),
        denied: session.denied(),
        evasions: session.evasions(),
        ..Crossing::default()
    };
    let path = seal.map(|(_, path)| path).or_else(|| sealed_path(next?, sealed));
    if let Some(text) = path.and_then(|path| sealed.get(&path)) {
        sections(text, &mut found);
        found.delivered = next.map(|next| next.heard(text));
    }
    found.next = next.map(|next| {
        let mut known: BTreeSet<String> = earlier.iter().flat_map(Session::reads).collect();
        known.extend(session.reads());
        next.gone_on(&known)
    });
    found
}

/// Finds the version of a seal by the guard itself, which only the delivery names.
fn sealed_path(next: &Session, sealed: &BTreeMap<String, String>) -> Option<String> {
    sealed.keys().rev().find(|path| next.heard(path)).cloned()
}

fn sections(text: &str, found: &mut Crossing) {
    let shape = Shape::default();
    let document = compaction::parse(text, &shape);
    for index in shape.authored() {
        let name = shape.name(Some(index)).to_owned();
        let says: Vec<bool> = document.section(index).map(|entry| !entry.none).collect();
        let count = says.iter().filter(|says| **says).count();
        if says.is_empty() {
            found.empty.push(name.clone());
        } else if count == 0 {
            found.none.push(name.clone());
        }
        found.entries.insert(name, count);
    }
    found.words = Some(compaction::gauge_words(text, &shape));
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
