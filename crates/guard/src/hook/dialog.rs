//! What a dialog of the client is about. The client's event says only that there is one.

use std::collections::HashSet;
use std::ops::ControlFlow;

use serde_json::Value;

use super::event::QUESTION_TOOL;
use super::facts::Facts;
use base::tail;

/// How far back the call is looked for.
const ROWS: usize = 50;

/// Fields of a call's input that say what it does, the best first.
const TELLING: [&str; 5] = ["command", "file_path", "notebook_path", "url", "description"];

/// Calls of a subagent, whose own call the dialog is about.
const SUBAGENTS: [&str; 2] = ["Agent", "Task"];

/// What the client says of a dialog, with the call it is about: the only one of the main loop
/// without a result, but for the one that `ended` now.
pub fn text(facts: &Facts, said: &str, ended: Option<&str>) -> String {
    let is_of_agent = facts.session.background.agents > 0;
    let mut open = if is_of_agent { Vec::new() } else { open_calls(facts, ended) };
    let only = open.pop().filter(|call| open.is_empty() && !is_agent(call));
    match only {
        Some(call) if call["name"] == QUESTION_TOOL => {
            let question = call["input"]["questions"][0]["question"].as_str();
            question.map_or_else(|| said.to_owned(), |question| format!("it asks: {question}"))
        }
        Some(call) => {
            let name = call["name"].as_str().unwrap_or_default();
            let what = TELLING.iter().find_map(|field| call["input"][*field].as_str());
            let what = what.map_or_else(String::new, |what| format!(": {what}"));
            format!("{said} ({name}{what})")
        }
        None => said.to_owned(),
    }
}

/// Whether a dialog may still stand when a call of the main loop has ended: others have no result.
pub fn may_stand(facts: &Facts, ended: &str) -> bool {
    open_calls(facts, Some(ended)).iter().any(|call| !is_agent(call))
}

fn is_agent(call: &Value) -> bool {
    call["name"].as_str().is_some_and(|name| SUBAGENTS.contains(&name))
}

/// The calls of the main loop without a result.
fn open_calls(facts: &Facts, ended: Option<&str>) -> Vec<Value> {
    let Some(transcript) = &facts.transcript else { return Vec::new() };
    let (mut rows, mut done, mut open) = (0, HashSet::new(), Vec::new());
    done.extend(ended.map(str::to_owned));
    // A transcript that can't be read says nothing.
    let _ = tail::lines_backwards(transcript, |line| {
        rows += 1;
        let row: Value = serde_json::from_slice(line).unwrap_or_default();
        let blocks = row["message"]["content"].as_array().cloned().unwrap_or_default();
        let of = |kind: &'static str| blocks.iter().filter(move |block| block["type"] == kind);
        done.extend(
            of("tool_result").filter_map(|of| Some(of["tool_use_id"].as_str()?.to_owned())),
        );
        open.extend(of("tool_use").cloned());
        let is_prompt = row["type"] == "user" && of("tool_result").next().is_none();
        if rows < ROWS && !is_prompt { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    open.retain(|call| call["id"].as_str().is_none_or(|id| !done.contains(id)));
    open
}
