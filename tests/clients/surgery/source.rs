//! Reads a session from its transcript without the library under test: rows by `serde_json`, the
//! branch by parent ids, and rounds by the prompts of the test.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::block::{Block, blocks_of_row};

#[derive(Debug, Clone)]
pub struct Round {
    /// The number in the session, from 1.
    pub seq: u32,
    pub started: String,
    /// Whether the round is on the branch of the last row.
    pub live: bool,
    /// The blocks for the model, in the order in which the client sends them.
    pub blocks: Vec<Block>,
}

#[derive(Debug, Clone)]
pub struct Source {
    pub id: String,
    pub path: PathBuf,
    rounds: BTreeMap<u32, Round>,
}

impl Source {
    /// Reads a transcript whose rounds begin with these prompts, in this order.
    pub fn read(path: &Path, prompts: &[&str]) -> Self {
        let text =
            fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let rows: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("the client writes JSON"))
            .filter(|row: &Value| row["uuid"].is_string())
            .collect();
        let live = branch(&rows);
        let mut kept = Value::Null;
        let mut due = prompts.iter();
        let mut next = due.next();
        let mut rounds: BTreeMap<u32, Round> = BTreeMap::new();
        for row in &rows {
            if next.is_some_and(|prompt| begins(row, prompt)) {
                next = due.next();
                let seq = rounds.len() as u32 + 1;
                let started = row["timestamp"].as_str().expect("a time").to_owned();
                let live = live.contains(id(row));
                rounds.insert(seq, Round { seq, started, live, blocks: Vec::new() });
            }
            let Some(mut round) = rounds.last_entry() else { continue };
            let blocks = &mut round.get_mut().blocks;
            blocks_of_row(row, blocks);
            if row["subtype"] == "compact_boundary" {
                kept = row["compactMetadata"]["preservedMessages"]["uuids"].clone();
            }
            if row["isCompactSummary"] == true {
                // The client keeps the last messages before a compaction after its summary.
                for id in kept.as_array().into_iter().flatten() {
                    let kept = rows.iter().find(|row| row["uuid"] == *id);
                    blocks_of_row(kept.expect("a kept row is in the file"), blocks);
                }
            }
        }
        assert_eq!(
            rounds.len(),
            prompts.len(),
            "every prompt begins a round in {}",
            path.display()
        );
        let id = path.file_stem().and_then(|stem| stem.to_str()).expect("an id").to_owned();
        Self { id, path: path.to_owned(), rounds }
    }

    pub fn round(&self, seq: u32) -> &Round {
        self.rounds.get(&seq).unwrap_or_else(|| panic!("{} has no round {seq}", self.id))
    }

    /// Keeps the first `keep` blocks of a round, as before its first answer.
    pub fn cut(&mut self, seq: u32, keep: usize) {
        self.rounds.get_mut(&seq).expect("a round").blocks.truncate(keep);
    }

    /// The numbers of the rounds on the branch of the last row.
    pub fn live(&self) -> Vec<u32> {
        self.rounds.values().filter(|round| round.live).map(|round| round.seq).collect()
    }
}

/// Whether a row is the user's message with this start. A compaction begins with its boundary row.
fn begins(row: &Value, prompt: &str) -> bool {
    if prompt == COMPACTION {
        return row["subtype"] == "compact_boundary";
    }
    let content = &row["message"]["content"];
    let text = content.as_str().or_else(|| content[0]["text"].as_str());
    row["type"] == "user" && text.is_some_and(|text| text.starts_with(prompt))
}

/// Stands for a compaction in a list of prompts.
pub const COMPACTION: &str = "\u{0}compaction";

fn id(row: &Value) -> &str {
    row["uuid"].as_str().unwrap_or_default()
}

/// The ids of the rows from the last one back to the first.
fn branch(rows: &[Value]) -> BTreeSet<&str> {
    let parents: BTreeMap<&str, &str> = rows
        .iter()
        .filter_map(|row| {
            let parent = row["parentUuid"].as_str().or_else(|| row["logicalParentUuid"].as_str());
            Some((id(row), parent?))
        })
        .collect();
    let mut live = BTreeSet::new();
    let mut at = rows.last().map(id);
    while let Some(here) = at {
        assert!(live.insert(here), "a circle at {here}");
        at = parents.get(here).copied();
    }
    live
}
