//! A call without a line in the journal, as the transcript shows it.

use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Serialize};

use base::clock::Time;
use base::shown::group_thousands;
use base::tail;
use guard::hook::facts::Facts;
use sessions::usage::Usage;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Seen {
    pub id: String,
    pub tool: String,
    pub at: Option<Time>,
    pub subagent: bool,
    /// Tokens of the response that made it.
    pub used: u64,
    /// Tokens that count as full.
    pub limit: u64,
    /// Why the journal has no line.
    pub why: &'static str,
}

#[derive(Deserialize)]
struct Row {
    #[serde(rename = "isSidechain", default)]
    sidechain: Option<bool>,
    #[serde(default)]
    timestamp: Option<Time>,
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Vec<Part>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Part {
    id: String,
    name: String,
}

/// Finds a call in the transcripts of the session and of its subagents.
pub fn look_up(facts: &Facts, id: &str) -> Option<Seen> {
    let main = facts.transcript.as_deref()?;
    let limit = facts.context(None, 0).map_or(0, |c| c.reading.limit);
    let beside = std::fs::read_dir(main.with_extension("").join("subagents"));
    let others = beside.into_iter().flatten().flatten().map(|entry| entry.path());
    let transcripts = std::iter::once(main.to_path_buf()).chain(others);
    let mut jsonl = transcripts.filter(|p| p.extension().is_some_and(|e| e == "jsonl"));
    jsonl.find_map(|path| in_transcript(&path, id, limit))
}

fn in_transcript(path: &Path, id: &str, limit: u64) -> Option<Seen> {
    let mut found = None;
    let _ = tail::lines_backwards(path, |line| {
        if memchr::memmem::find(line, id.as_bytes()).is_some() {
            found = made_in(line, id, limit);
        }
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

fn made_in(line: &[u8], id: &str, limit: u64) -> Option<Seen> {
    let row: Row = serde_json::from_slice(line).ok()?;
    let call = row.message.content.into_iter().find(|part| part.id == id)?;
    let subagent = row.sidechain == Some(true);
    Some(Seen {
        id: id.to_owned(),
        tool: call.name,
        at: row.timestamp,
        subagent,
        used: row.message.usage.map_or(0, |usage| usage.total()),
        limit,
        why: if subagent {
            "a subagent's calls pass but for the guard's own verbs, and what passes there is not written down"
        } else {
            "a call below every tier passes and is not written down; nor is any where the guard was off"
        },
    })
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let by = if self.subagent { " of a subagent" } else { "" };
        let at = self
            .at
            .map_or_else(String::new, |at| format!(" at {}", at.format("%Y-%m-%d %H:%M:%S UTC")));
        writeln!(f, "{}{by} ({}), not in the journal,{at}", self.tool, self.id)?;
        let percent = self.used as f64 * 100.0 / self.limit.max(1) as f64;
        let (used, limit) = (group_thousands(self.used), group_thousands(self.limit));
        if self.limit > 0 && !self.subagent {
            writeln!(
                f,
                "  context     {percent:.1} % ({used} of {limit} tokens, transcript: the response that made the call)"
            )?;
        }
        write!(f, "  because     {}", self.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_found_by_its_id_and_not_by_its_result() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let rows = [
            r#"{"type":"assistant","isSidechain":false,"timestamp":"2026-01-01T00:00:00Z","message":{"content":[{"type":"text","text":"x"},{"type":"tool_use","id":"t1","name":"Read","input":{}}],"usage":{"input_tokens":7,"cache_creation_input_tokens":null,"cache_read_input_tokens":90,"output_tokens":3}}}"#,
            r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"hi"}]}}"#,
            r#"{"type":"user","message":{"role":"user","content":"about t1"}}"#,
        ];
        std::fs::write(&path, rows.join("\n")).unwrap();
        let seen = in_transcript(&path, "t1", 1_000).unwrap();
        assert_eq!((seen.tool.as_str(), seen.used, seen.subagent), ("Read", 100, false));
        assert!(seen.to_string().contains("10.0 % (100 of 1,000 tokens"), "{seen}");
        assert_eq!(in_transcript(&path, "t2", 1_000), None);
    }
}
