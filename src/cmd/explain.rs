//! `explain`: why the last call was blocked, why nothing is, and the way out.

use serde_json::json;

use super::status;
use super::whose;
use super::{Exit, out, out_json};
use crate::cli::Whose;
use crate::clock::Time;
use crate::env::Env;
use crate::policy::stance::Cap;

/// Runs the verb.
///
/// # Errors
/// No session.
pub fn run(env: &Env, now: Time, whose: &Whose, as_json: bool) -> anyhow::Result<Exit> {
    let found = whose::find(env, whose)?;
    let facts = whose::facts(env, now, &found)?;
    let view = status::view(&facts);
    let selection = facts.carrier();
    if as_json {
        let mut value = status::json(&facts, &view);
        value["last_denied"] = json!(facts.session.denied);
        value["base_percent"] =
            json!(view.context.map_or(0.0, |c| facts.session.base_percent(c.reading.limit)));
        value["carriers"] = json!(selection.explain());
        out_json(&value)?;
        return Ok(Exit::Done);
    }
    out(status::text(&facts, &view));
    out("");
    match &facts.session.denied {
        Some(denied) => out(format_args!(
            "last blocked: {} at {}\n{}",
            denied.tool,
            denied.at.format("%Y-%m-%d %H:%M:%S UTC"),
            denied.reason
        )),
        None => out("nothing was blocked in this session"),
    }
    if let Some(cap) = &view.stance.cap {
        out(format_args!("\nnothing is blocked now, because {}", cap.why()));
        if *cap == Cap::NoCarrier {
            out(selection.explain().trim_end());
        }
    }
    if let Some(token) = facts.token().filter(|t| t.holds(facts.id))
        && let Some(waits) = &token.waits
    {
        let what = token.what();
        out(format_args!("\n{what}; the clear waits: {waits}. /clear, typed by you, does as well"));
    }
    out(
        "\nways out: `brain-guard seal` (the agent), /brain-guard:override --for 30m at the prompt, or `brain-guard override --for 30m` in a terminal",
    );
    Ok(Exit::Done)
}
