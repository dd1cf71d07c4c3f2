//! The model: it does the work that a prompt names, and ends each turn with a text.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::support::evidence::lock;
use crate::support::mock::{Gate, Reply, Request};

const SEAL: &str = "brain-guard seal --clear";

/// The work of one boundary: the notes before the seal, and the end of the turn.
pub struct Work {
    /// Entries for the notes, each with its kind.
    pub notes: Vec<(&'static str, String)>,
    /// Seconds of sleep of this turn's background command.
    pub background: Option<f64>,
    /// A background agent that asks for permission once this gate is open.
    pub subagent: Option<Gate>,
    /// Holds the last answer until the test opens it.
    pub ending: Gate,
}

#[derive(Default)]
struct State {
    work: HashMap<String, Work>,
    begun: HashSet<String>,
    /// The remaining answers of each session.
    queue: HashMap<String, VecDeque<Reply>>,
    /// The path of the sealed version, by work.
    sealed: HashMap<String, String>,
    /// The gates of the background agents, by work.
    gates: HashMap<String, Gate>,
    /// The current work of each session.
    at: HashMap<String, String>,
}

/// The agent; clones share their state.
#[derive(Clone, Default)]
pub struct Agent(Arc<Mutex<State>>);

impl Agent {
    /// Adds work, which the prompt `please work <name> now` starts.
    pub fn give(&self, name: &str, work: Work) {
        lock(&self.0).work.insert(name.to_owned(), work);
    }

    /// The sealed version that the seal of this work named.
    pub fn sealed(&self, name: &str) -> Option<String> {
        lock(&self.0).sealed.get(name).cloned()
    }

    pub fn answer(&self, request: &Request) -> Reply {
        let mut state = lock(&self.0);
        let session = request.session.clone().unwrap_or_default();
        for result in request.tool_results() {
            let path = result.text.lines().find_map(|line| line.strip_prefix("sealed version: "));
            if let (Some(path), Some(name)) = (path, state.at.get(&session).cloned()) {
                state.sealed.insert(name, path.to_owned());
            }
        }
        // This agent ignores what the seal asks for.
        if request.tool_results().iter().any(|result| result.text.contains("not sealed yet:")) {
            return Reply::bash(SEAL);
        }
        let text = request.last_user_text();
        if let Some((verb, name)) =
            order(&text).filter(|(_, name)| state.begun.insert(name.clone()))
        {
            match verb.as_str() {
                "work" => {
                    if let Some(work) = state.work.remove(&name) {
                        if let Some(gate) = &work.subagent {
                            state.gates.insert(name.clone(), gate.clone());
                        }
                        let moves = moves(&name, work);
                        state.at.insert(session.clone(), name);
                        state.queue.insert(session.clone(), moves);
                    }
                }
                "write" => {
                    let input = json!({"file_path": format!("{name}.txt"), "content": "x"});
                    return Reply::tool("Write", input);
                }
                "question" => {
                    return Reply::question("Which of these?", ["one", "two"]);
                }
                _ => {}
            }
        }
        let next = state.queue.get_mut(&session).and_then(VecDeque::pop_front);
        next.unwrap_or_else(|| Reply::text("I go on."))
    }

    /// Answers a request of a background agent, which writes one file.
    pub fn assist(&self, request: &Request) -> Reply {
        let asked = order(&request.last_user_text());
        let Some((_, name)) = asked.filter(|_| request.tool_results().is_empty()) else {
            return Reply::text("written");
        };
        let Some(gate) = lock(&self.0).gates.get(&name).cloned() else { return Reply::text("no") };
        let input = json!({"file_path": format!("by-agent-{name}.txt"), "content": "x"});
        Reply::text("I begin.\n\nAnd write.\n").and_tool("Write", input).hang(&gate)
    }
}

fn moves(name: &str, work: Work) -> VecDeque<Reply> {
    let mut moves = VecDeque::new();
    for (kind, note) in work.notes {
        let command = format!("brain-guard append --kind {kind} <<'EOF'\n- {note}\nEOF");
        moves.push_back(Reply::bash(&command));
    }
    if work.subagent.is_some() {
        let prompt = format!("please write {name} now");
        let input = json!({
            "description": "write", "prompt": prompt, "subagent_type": "general-purpose",
            "run_in_background": true,
        });
        moves.push_back(Reply::tool("Agent", input));
    }
    if let Some(seconds) = work.background {
        let input = json!({
            "command": format!("sleep {seconds:.2}"), "description": "wait", "run_in_background": true,
        });
        moves.push_back(Reply::tool("Bash", input));
    }
    moves.push_back(Reply::bash(SEAL));
    moves.push_back(Reply::text("Sealed.\n\nI end my turn.\n").hang(&work.ending));
    moves
}

/// Parses the last order in a text: `please <verb> <name> now`.
fn order(text: &str) -> Option<(String, String)> {
    let (_, tail) = text.rsplit_once("please ")?;
    let mut words = tail.split_whitespace();
    let (verb, name) = (words.next()?, words.next()?);
    (words.next()? == "now").then(|| (verb.to_owned(), name.to_owned()))
}
