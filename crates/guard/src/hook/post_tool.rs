//! `PostToolUse`, `PostToolUseFailure`, `PostToolBatch`: records what a call did and adds one note
//! per batch.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::boundary_flow;
use super::event::{Event, ToolCall};
use super::facts::Facts;
use super::limits;
use super::messages::Messages;
use super::pre_tool::settle;
use super::reply::{Agent, Reply};
use super::target::absolute;
use super::wire::ToolInput;
use crate::files::{commits, state};
use crate::journal::Cut;
use crate::policy::bands::{Band, band};
use crate::policy::coach::note_due;
use crate::policy::stance::{Cap, Ranks};
use crate::texts::{self, Text};
use base::atomic;

/// `PostToolUse`, or `PostToolUseFailure` without an output.
pub fn used(
    facts: &mut Facts,
    event: &Event,
    call: &ToolCall,
    output: Option<&serde_json::value::RawValue>,
) -> Reply {
    let input = ToolInput::parse(call.input);
    if matches!(call.tool, "Read" | "Edit" | "Write")
        && output.is_some()
        && !event.subagent
        && let Some(path) = input.file_path.as_deref()
    {
        let path = absolute(event, path);
        if let Err(e) = state::remember_file(&facts.places, facts.id, &path.to_string_lossy()) {
            facts.fault("file not remembered", &e);
        }
    }
    let shell = band(call.tool, &facts.settings.bands) == Band::Shell;
    if !shell {
        return Reply::default();
    }
    keep_commits(facts, call, output);
    match output {
        Some(output) if !event.subagent => cap_output(facts, call, output.get()),
        _ => Reply::default(),
    }
}

/// Keeps the commits that the call's output reports.
fn keep_commits(facts: &Facts, call: &ToolCall, output: Option<&serde_json::value::RawValue>) {
    let text = output.map(serde_json::value::RawValue::get).or(call.error).unwrap_or_default();
    if !text.contains("] ") {
        return;
    }
    let text = serde_json::from_str::<Value>(text).ok().map_or_else(
        || text.to_owned(),
        |output| {
            let part = |key: &str| output[key].as_str().unwrap_or_default().to_owned();
            format!("{}\n{}", part("stdout"), part("stderr"))
        },
    );
    if let Err(e) = commits::keep_reported(&facts.places, facts.id, &text) {
        facts.fault("reported commits not kept", &e);
    }
}

/// Shortens shell output where reads are blocked. Head and tail stay. A file keeps the whole
/// output, because the transcript keeps only the replacement.
fn cap_output(facts: &Facts, call: &ToolCall, output: &str) -> Reply {
    let limit = facts.session.reading.map_or(u64::MAX, |r| r.limit);
    let ramp = facts.ramp(limit);
    let rank = facts.session.ranks.context.max(facts.session.ranks.file);
    let max = facts.settings.coach.shell_chars;
    // A cheap check first, because most output is short.
    if rank < ramp.first_blocking() || output.len() <= max {
        return Reply::default();
    }
    let readings = facts.readings(None, None);
    if facts.cap(&readings).is_some_and(|cap| cap != Cap::Headless) {
        return Reply::default();
    }
    let Ok(Value::Object(mut output)) = serde_json::from_str(output) else {
        return Reply::default();
    };
    let text = |key: &str, from: &serde_json::Map<String, Value>| {
        from.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    // The client shows just the beginning of output that it saves.
    let has = |key: &str| output.get(key).is_some_and(|value| !value.is_null());
    if has("backgroundTaskId")
        || has("persistedOutputPath")
        || output.get("isImage") == Some(&Value::Bool(true))
    {
        return Reply::default();
    }
    let (stdout, stderr) = (text("stdout", &output), text("stderr", &output));
    let whole = if stderr.is_empty() { stdout } else { format!("{stdout}\n{stderr}") };
    let count = whole.chars().count();
    if count <= max {
        return Reply::default();
    }
    let path = save_path(facts, call).display().to_string();
    let (head, tail) = (max * 3 / 5, max * 2 / 5);
    let first: String = whole.chars().take(head).collect();
    let last: String = whole.chars().skip(count - tail).collect();
    let cut = (count - head - tail).to_string();
    let line = texts::render(&facts.places, Text::Capped, &[("cut", &cut), ("path", &path)]);
    let kept = format!("{first}\n{line}\n{last}");
    // If the output is barely too long, the line about the cut is longer than the cut.
    let is_shorter = kept.chars().count() < count;
    if !is_shorter || !save(facts, call, &whole) {
        return Reply::default();
    }
    let cut = Cut {
        id: call.id.to_owned(),
        tool: call.tool.to_owned(),
        before: count as u64,
        after: kept.chars().count() as u64,
        path,
    };
    super::journal::cut(facts, cut, &line);
    output.insert("stdout".into(), json!(kept));
    output.insert("stderr".into(), json!(""));
    Reply { agent: Some(Agent::Output(Value::Object(output))), ..Reply::default() }
}

fn save_path(facts: &Facts, call: &ToolCall) -> PathBuf {
    let name = if base::paths::is_safe_name(call.id) { call.id } else { "output" };
    facts.places.outputs(facts.id).join(format!("{name}.txt"))
}

/// Saves a call's whole output. `false` if that fails.
fn save(facts: &Facts, call: &ToolCall, text: &str) -> bool {
    let path = save_path(facts, call);
    let folder = path.parent().map_or(Ok(()), atomic::create_private_dir);
    let saved = folder.and_then(|()| atomic::write_unsynced(&path, text.as_bytes()));
    if let Err(e) = &saved {
        facts.fault("output not saved, so not cut", e);
    }
    saved.is_ok()
}

/// `PostToolBatch` comes once per response, after all its tools. One note here lands once (seen
/// with client 2.1.329).
pub fn batch(facts: &mut Facts, event: &Event, bytes: u64) -> Reply {
    if event.subagent {
        return Reply::default();
    }
    if let Some(path) = facts.session.notes.missing.clone() {
        facts.update(|s| s.notes.missing = None);
        let text = texts::render(&facts.places, Text::NotesMissing, &[("path", path.as_str())]);
        return Reply::note("PostToolBatch", text);
    }
    learn_model(facts);
    let context = facts.context(None, bytes);
    let file = facts.file();
    settle(facts, context, file.map(|f| f.1));
    let readings = facts.readings(context, file.map(|f| f.0));
    let ramp = facts.ramp(context.map_or(u64::MAX, |c| c.reading.limit));
    let stance = facts.stance(&ramp, &readings);
    if stance.rank == 0
        && facts.session.notified.agent.rank == 0
        && facts.session.ranks == Ranks::default()
    {
        return Reply { user: limits::uncounted(facts, context.as_ref()), ..Reply::default() };
    }
    let say = Messages::new(facts, &ramp, &readings, &stance);
    let now = say.note_state(&stance);
    let claimed = state::update(&facts.places, facts.id, |s| {
        s.ranks = Ranks { context: stance.context_rank, file: stance.file_rank };
        if let Some(context) = context {
            (s.reading, s.limits.window) = (Some(context.reading), Some(context.window));
        }
        // At the highest tier the denials explain it, but a capped tier denies nothing.
        let top = if stance.cap.is_some() { usize::MAX } else { ramp.top() };
        let again = now.rank == s.notified.agent.rank;
        // After a failed boundary the agent was told to go on with the work.
        let is_lifted = matches!(stance.cap, Some(Cap::Lifted(_) | Cap::Failed(_)));
        // A sealed agent ends its turn. This batch's own seal may have raised the usage.
        let due = note_due(&s.notified.agent, &now, top)
            && !(again && is_lifted)
            && !boundary_flow::waits_sealed(facts);
        if due || now.rank < s.notified.agent.rank {
            s.notified.agent = now;
        }
        (due, again, say.claim_user(s))
    });
    let (due, again, tell_user) = match claimed {
        Ok(claimed) => claimed,
        Err(e) => {
            facts.fault("note not claimed, so not given", &e);
            return Reply::default();
        }
    };
    if due {
        facts.make_file();
        super::bearings::coached(facts);
    }
    let mut reply = match (due, again) {
        (true, true) => Reply::note("PostToolBatch", say.note_again()),
        (true, false) => Reply::note("PostToolBatch", say.note()),
        (false, _) => Reply::default(),
    };
    reply.user = tell_user.then(|| say.user());
    reply
}

/// Learns the model from the transcript where no event named it: under `-p`, after a resume, and
/// after a switch on older clients.
fn learn_model(facts: &mut Facts) {
    let Some(seen) = facts.transcript_usage().and_then(|f| f.model.clone()) else { return };
    if facts.session.model.as_deref().is_none_or(|m| !m.starts_with(&seen)) {
        if facts.session.model.is_some() {
            super::session::switch_model(facts, &seen);
        } else {
            facts.update(|s| s.model = Some(seen.clone()));
        }
    }
}
