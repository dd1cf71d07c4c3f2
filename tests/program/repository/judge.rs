//! What an attack reached: files outside the project, the user's or the guard's voice, lost time.

use std::fs;

use serde_json::Value;

use crate::repository::play::Step;
use crate::repository::world::{FRAME, MARKER, SECRET, World};
use crate::support::listing::files;

/// Characters that the client accepts from a hook.
const CONTEXT: usize = 10_000;
const MESSAGE: usize = 2_000;
const LINE: usize = 1000;
/// Bytes that a verb may print.
const PRINTED: usize = 2 << 20;
/// Larger files hold none of our secrets.
const MOST: u64 = 64 << 20;

/// The faults, without duplicates. `accepted`: the user accepted the job.
pub fn judge(world: &World, steps: &[Step], accepted: bool) -> Vec<String> {
    let mut found: Vec<String> =
        world.changed().into_iter().map(|what| format!("WRITTEN: {what}")).collect();
    for step in steps {
        found.extend(said(world, step, accepted).map(|what| format!("{what}, at {}", step.what)));
    }
    for path in world.inside().iter().flat_map(|folder| files(folder)) {
        let small = fs::metadata(&path).is_ok_and(|meta| meta.len() <= MOST);
        let text = if small { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        if memchr::memmem::find(&text, SECRET.as_bytes()).is_some() {
            found.push(format!("READ: a secret is in {}", path.display()));
        }
    }
    let mut kinds = Vec::new();
    found.retain(|what| {
        let kind = what.split(", at ").next().unwrap_or_default().to_owned();
        let new = !kinds.contains(&kind);
        kinds.push(kind);
        new
    });
    found
}

fn said(world: &World, step: &Step, accepted: bool) -> impl Iterator<Item = String> {
    let mut found = Vec::new();
    let Step { answer, .. } = step;
    let printed = format!("{}{}", answer.stdout, answer.stderr);
    if printed.contains(SECRET) {
        found.push("READ: a secret is printed".to_owned());
    }
    if step.hung {
        found.push("HUNG".to_owned());
    }
    if let Some(stuck) = &step.stuck {
        found.push(format!("STUCK: {stuck}"));
    }
    if let (Some(odd), "allow") = (&step.odd, step.verdict().as_str()) {
        found.push(format!("ALLOWED without a dialog: {odd} is no plain file"));
    }
    if !step.hook {
        let own = strange(&step.what).is_some();
        let strange = strange(&printed).filter(|_| !own);
        found.extend(strange.map(|c| format!("VOICE: {c} is printed")));
        if printed.len() > PRINTED {
            found.push(format!("COST: a verb prints {} bytes", printed.len()));
        }
        return found.into_iter();
    }
    if step.slow() && !step.hung {
        found.push("COST: more than 1.5 s of processor time".to_owned());
    }
    let json = if answer.stdout.is_empty() {
        Ok(Value::Null)
    } else {
        serde_json::from_str(&answer.stdout)
    };
    if !step.hung && (answer.code != Some(0) || !answer.stderr.is_empty() || json.is_err()) {
        found.push(format!("FAULT: exit {:?}, {:?}", answer.code, short(&answer.stderr)));
    }
    let reply: Value = json.unwrap_or_default();
    let mut texts = Vec::new();
    collect("", &reply, &mut texts);
    // The agent's own command, unchanged.
    texts.retain(|(field, _)| !(*field == "command" && step.names_job));
    for (field, text) in texts {
        found.extend(strange(text).map(|c| format!("VOICE: {c} in {field}")));
        if !accepted && text.contains(MARKER) {
            found.push(format!("VOICE: the stranger speaks in {field}"));
        }
        let offered = world.found
            && field == "additionalContext"
            && !step.names_job
            && names(text, &world.job);
        if !accepted && offered {
            found.push("VOICE: the job is named to the agent".to_owned());
        }
        let most = match field {
            "additionalContext" => CONTEXT,
            "systemMessage" => MESSAGE,
            _ => usize::MAX,
        };
        if text.chars().count() > most {
            found.push(format!("COST: {field} is longer than {most}"));
        }
        if field == "systemMessage" && text.lines().any(|line| line.chars().count() > LINE) {
            found.push(format!("COST: a line for the user is longer than {LINE}"));
        }
    }
    found.into_iter()
}

/// All texts that hooks added to the conversation.
pub fn contexts(steps: &[Step]) -> Vec<String> {
    strings(steps, "additionalContext")
}

/// All texts shown to the user.
pub fn messages(steps: &[Step]) -> Vec<String> {
    strings(steps, "systemMessage")
}

fn strings(steps: &[Step], name: &str) -> Vec<String> {
    let mut all = Vec::new();
    for reply in steps.iter().filter(|step| step.hook).map(Step::json) {
        let mut texts = Vec::new();
        collect("", &reply, &mut texts);
        all.extend(
            texts.into_iter().filter(|(field, _)| *field == name).map(|(_, t)| t.to_owned()),
        );
    }
    all
}

/// Texts with the stranger's words that do not name their source.
pub fn framed(texts: &[String]) -> Vec<String> {
    let bare = |text: &&String| text.contains(MARKER) && !text.contains(FRAME);
    let bare = texts.iter().filter(bare).count();
    let found =
        (bare > 0).then(|| format!("VOICE: {bare} texts with the stranger's words don't say so"));
    found.into_iter().collect()
}

fn collect<'v>(field: &'v str, value: &'v Value, into: &mut Vec<(&'v str, &'v str)>) {
    match value {
        Value::String(text) => into.push((field, text)),
        Value::Array(list) => list.iter().for_each(|item| collect(field, item, into)),
        Value::Object(map) => map.iter().for_each(|(name, item)| collect(name, item, into)),
        _ => {}
    }
}

/// A character that controls a terminal or hides text.
fn strange(text: &str) -> Option<String> {
    let odd = |c: &char| {
        (c.is_control() && !"\n\t".contains(*c))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}'..='\u{200f}')
    };
    text.chars().find(odd).map(|c| format!("{c:?}"))
}

/// Whether a text contains this whole name, not just as the start of another.
fn names(text: &str, job: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    text.match_indices(job).any(|(at, _)| !text[at + job.len()..].starts_with(part))
}

fn short(text: &str) -> String {
    text.chars().take(120).collect()
}
