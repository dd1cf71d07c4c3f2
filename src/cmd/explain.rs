//! `explain`: why a call was blocked, or why nothing is, and the way out.

mod told;
mod unwritten;

use serde_json::{Value, json};

use super::status;
use super::whose::{self, Found};
use super::{Exit, out, out_json};
use crate::cli::Whose;
use base::clock::Time;
use base::env::Env;
use base::paths::Places;
use guard::files::journal::{self, Line, Verdict, What};
use guard::files::state;
use guard::hook::facts::{Facts, View};
use guard::policy::stance::Cap;
use guard::report::clean;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Ask {
    /// So many of the last lines of the journal.
    pub last: Option<usize>,
    /// As JSON.
    pub json: bool,
}

/// Runs the verb.
///
/// # Errors
/// No session.
pub fn run(env: &Env, now: Time, whose: &Whose, ask: Ask) -> anyhow::Result<Exit> {
    let found = find(env, whose)?;
    let facts = whose::facts(env, now, &found)?;
    let lines = journal::read(&facts.places, facts.id);
    if let Some(call) = asked_call(whose, &lines) {
        return one_call(&facts, &lines, call, ask.json);
    }
    match ask.last {
        Some(count) => some(&facts, &lines[lines.len().saturating_sub(count)..], ask.json),
        None => standing(&facts, &lines, ask.json),
    }
}

/// The session that is asked about; a call that is named says it itself.
fn find(env: &Env, whose: &Whose) -> anyhow::Result<Found> {
    if let (None, Some(call)) = (&whose.session, &whose.call) {
        let project = whose::project(env, whose)?;
        if let Some(places) = Places::of(env, &project) {
            let all = state::all(&places)?;
            let wrote = |id: &String| journal::call(&places, id, call).is_some();
            if let Some(session) = all.into_iter().find(wrote) {
                return Ok(Found { project, session });
            }
        }
    }
    whose::find_or_last(env, whose)
}

/// The call that is asked about. The hook names every call that runs a verb to the verb:
/// that is the call `explain` runs in, and nobody asks about it.
fn asked_call<'a>(whose: &'a Whose, lines: &[Line]) -> Option<&'a str> {
    let id = whose.call.as_deref()?;
    let filled_in = whose.session.is_some() && whose.project.is_some();
    let own = about(lines, id)
        .is_none_or(|l| matches!(&l.what, What::Call(call) if call.verdict == Verdict::Allow));
    (!(filled_in && own)).then_some(id)
}

fn about<'a>(lines: &'a [Line], id: &str) -> Option<&'a Line> {
    lines.iter().rfind(|line| match &line.what {
        What::Call(call) => call.id == id,
        _ => false,
    })
}

fn one_call(facts: &Facts, lines: &[Line], id: &str, as_json: bool) -> anyhow::Result<Exit> {
    if let Some(line) = about(lines, id) {
        return some(facts, std::slice::from_ref(line), as_json);
    }
    let Some(seen) = unwritten::look_up(facts, id) else {
        super::err(format_args!(
            "no call {id} in the journal or the transcript of session {}; name its session with --session",
            facts.id
        ));
        return Ok(Exit::Refused);
    };
    if as_json {
        out_json(&json!({"session_id": facts.id, "accounts": [], "transcript": seen}))?;
    } else {
        out(seen);
    }
    Ok(Exit::Done)
}

fn some(facts: &Facts, lines: &[Line], as_json: bool) -> anyhow::Result<Exit> {
    if as_json {
        let accounts: Vec<Value> = lines.iter().map(|line| told::json(facts, line)).collect();
        out_json(&json!({"session_id": facts.id, "accounts": accounts}))?;
        return Ok(Exit::Done);
    }
    if lines.is_empty() {
        out(
            "nothing was decided, said or done in this session: below every tier nothing is written",
        );
    }
    let texts: Vec<String> = lines.iter().map(|line| told::text(facts, line)).collect();
    if !texts.is_empty() {
        out(texts.join("\n\n"));
    }
    Ok(Exit::Done)
}

/// The answer to the slash command.
pub fn at_the_prompt(facts: &Facts) -> String {
    let lines = journal::read(&facts.places, facts.id);
    format!("brain-guard\n{}", standing_text(facts, &facts.view(), &lines))
}

/// How the session stands, its last denial, and the ways out.
fn standing_text(facts: &Facts, view: &View, lines: &[Line]) -> String {
    let mut text = vec![status::text(facts, view), String::new()];
    text.push(match (last_denial(lines), &facts.session.denied) {
        (Some(line), _) => format!("last blocked: {}", told::brief(facts, line)),
        (None, Some(denied)) => {
            let at = denied.at.format("%Y-%m-%d %H:%M:%S UTC");
            clean(&format!("last blocked: {} at {at}\n{}", denied.tool, denied.reason))
        }
        (None, None) => "nothing was blocked in this session".to_owned(),
    });
    if let Some(cap) = &view.stance.cap {
        text.push(format!("\nnothing is blocked now, because {}", cap.why()));
        if *cap == Cap::NoCarrier {
            text.push(facts.carrier().explain().trim_end().to_owned());
        }
    }
    if let Some(token) = facts.token().filter(|t| t.holds(facts.id))
        && let Some(waits) = &token.waits
    {
        let what = token.what();
        text.push(format!(
            "\n{what}; the clear waits: {waits}. /clear, typed by you, does as well"
        ));
    }
    let out = "\nways out: `brain-guard seal` (the agent), /brain-guard:override --for 30m at the prompt, or `brain-guard override --for 30m` in a terminal";
    text.push(out.to_owned());
    text.join("\n")
}

fn last_denial(lines: &[Line]) -> Option<&Line> {
    let denied = |line: &&Line| {
        let denial = |verdict| matches!(verdict, Verdict::Deny | Verdict::WouldDeny);
        matches!(&line.what, What::Call(call) if denial(call.verdict))
    };
    lines.iter().rfind(denied)
}

/// How the session stands, and the account of its last denial.
fn standing(facts: &Facts, lines: &[Line], as_json: bool) -> anyhow::Result<Exit> {
    let view = facts.view();
    let last = last_denial(lines);
    if as_json {
        let mut value = status::json(facts, &view);
        value["last_denied"] = json!(facts.session.denied);
        value["account"] = json!(last.map(|line| told::json(facts, line)));
        value["base_percent"] =
            json!(view.context.map_or(0.0, |c| facts.session.base_percent(c.reading.limit)));
        value["carriers"] = json!(facts.carrier().explain());
        out_json(&value)?;
        return Ok(Exit::Done);
    }
    out(standing_text(facts, &view, lines));
    Ok(Exit::Done)
}
