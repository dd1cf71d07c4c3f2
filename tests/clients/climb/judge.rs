//! Checks that the notes arrived once and complete, and that no fact is lost.

use std::fs;

use serde_json::Value;

use crate::climb::agent::{Agent, Session, State};
use crate::climb::notes;
use crate::climb::tally::Fault;
use crate::support::evidence::lock;
use crate::support::world::World;

/// One part of delivered notes, as `Request::notes` returns it.
pub type Part = (String, String);

/// Judges the session before the newest one, after its boundary.
pub fn boundary(agent: &Agent, world: &World) {
    let mut state = lock(&agent.0);
    let state = &mut *state;
    let Some(at) = state.sessions.len().checked_sub(2) else { return };
    settle(state, at, world);
    let (old, new) = (&state.sessions[at], &state.sessions[at + 1]);
    let (from, number) = (old.number, new.number);
    let mut found = Vec::new();
    if at == 0 && !old.last.is_empty() {
        found.push((from, Fault::Double, "the first session got notes".to_owned()));
    }
    delivered(new, &new.first, "first", &mut found);
    if at > 0 {
        delivered(old, &old.last, "last", &mut found);
    }
    let kept = kept(state);
    for fact in &old.facts {
        let arrived = new.first.iter().any(|(_, text)| text.contains(fact));
        if !arrived && !kept.contains(fact) {
            found.push((number, Fault::Fact, format!("{fact} of session {from}")));
        }
    }
    state.faults.0.extend(found);
}

/// The guard changes nothing that was sent: a newer model refuses no thinking.
pub fn thinking(agent: &Agent, world: &World) {
    let refused = world.mock.refused();
    let mut state = lock(&agent.0);
    for request in refused {
        let of = |session: &&Session| Some(&session.id) == request.session.as_ref();
        let number = state.sessions.iter().find(of).map_or(0, |session| session.number);
        state.faults.add(number, Fault::Thinking, request.to_string());
    }
}

/// Judges the last session, and checks every fact of the climb again.
pub fn end(agent: &Agent) {
    let mut state = lock(&agent.0);
    let state = &mut *state;
    let Some(last) = state.sessions.last().filter(|last| last.number > 1) else { return };
    let mut found = Vec::new();
    delivered(last, &last.last, "last", &mut found);
    let kept = kept(state);
    for fact in state.sessions.iter().rev().skip(1).flat_map(|session| &session.facts) {
        if !kept.contains(fact) {
            found.push((last.number, Fault::Fact, format!("{fact}, at the end")));
        }
    }
    state.faults.0.extend(found);
}

fn delivered(
    session: &Session,
    parts: &[Part],
    which: &str,
    found: &mut Vec<(usize, Fault, String)>,
) {
    let mut fault = |fault, text: String| found.push((session.number, fault, text));
    let mut once = parts.to_vec();
    once.dedup();
    if parts.is_empty() {
        return fault(Fault::Missing, format!("no notes in the {which} request"));
    }
    if once.len() < parts.len() {
        return fault(Fault::Double, format!("{} parts in the {which} request", parts.len()));
    }
    let arrived: Vec<_> = once.iter().flat_map(|(_, text)| notes::content(text)).collect();
    let sealed = notes::content(session.carried.as_deref().unwrap_or_default());
    if arrived != sealed {
        let differs = arrived.iter().zip(&sealed).find(|(a, b)| a != b);
        let lines = format!("{} of {} lines in the {which} request", arrived.len(), sealed.len());
        fault(Fault::Changed, format!("{lines}, first {differs:?}"));
    }
}

/// The text of all sealed versions and archives.
fn kept(state: &State) -> String {
    let files = notes::archive(&state.kept);
    files.iter().filter_map(|path| fs::read_to_string(path).ok()).collect()
}

/// Judges calls whose results came in no request, by the client's transcript.
fn settle(state: &mut State, at: usize, world: &World) {
    let open = std::mem::take(&mut state.sessions[at].open);
    if open.is_empty() {
        return;
    }
    let id = state.sessions[at].id.clone();
    let mine = world.transcripts().into_iter().find(|p| p.to_string_lossy().contains(&id));
    let text = mine.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    let rows: Vec<Value> = text.lines().filter_map(|row| serde_json::from_str(row).ok()).collect();
    let blocks = rows.iter().filter_map(|row| row["message"]["content"].as_array()).flatten();
    let results: Vec<&Value> = blocks.filter(|block| block["type"] == "tool_result").collect();
    for call in open {
        let result = results.iter().find(|result| result["tool_use_id"] == call.id.as_str());
        let Some(result) = result else { continue };
        let text =
            result["content"].as_str().map_or_else(|| result["content"].to_string(), str::to_owned);
        let error = result["is_error"] == true;
        let mut session = state.sessions.remove(at);
        call.judge(state, &mut session, call.was_denied(error, &text), &text);
        if !error {
            session.facts.extend(call.fact.clone());
        }
        state.sessions.insert(at, session);
    }
}
