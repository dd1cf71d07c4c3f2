//! Who runs a verb: the operator's verbs refuse an agent.
#![allow(clippy::disallowed_methods, reason = "commands are an edge")]

use std::path::Path;

use super::Failure;
use base::env::{self, Env};
use base::paths::Places;
use guard::files::ancestry::below_a_client;

/// The operator's verbs that can also be typed at the client's prompt.
const AT_THE_PROMPT: [&str; 4] = ["override", "now", "later", "job accept"];

/// Whether an agent runs this. Every process the client starts carries a mark; the agent
/// can take that off, but not its client from above itself.
fn in_an_agents_shell(env: &Env) -> bool {
    let places = || Places::of(env, Path::new("/"));
    env.get(env::CLAUDECODE).is_some() || places().is_some_and(|p| below_a_client(&p, 0))
}

/// Refuses a verb of the operator's where an agent runs it.
///
/// # Errors
/// An agent runs it.
pub fn refuse_agent(env: &Env, verb: &str) -> Result<(), Failure> {
    if !in_an_agents_shell(env) {
        return Ok(());
    }
    let typed = if AT_THE_PROMPT.contains(&verb) {
        format!(", or type /brain-guard:{verb} at the prompt")
    } else {
        String::new()
    };
    Err(Failure::refused(format_args!(
        "`brain-guard {verb}` is the user's to run, not the agent's: run it in a terminal of your own{typed}"
    )))
}

/// Refuses a verb of the operator's that an agent typed at a prompt: the client starts the hook
/// itself, so one that runs further down was fed a prompt by the agent's shell or in a client of
/// its own.
///
/// # Errors
/// An agent typed it.
pub fn refuse_prompt_of_agent(places: &Places, verb: &str) -> Result<(), Failure> {
    if below_a_client(places, 1) {
        return Err(Failure::refused(format_args!(
            "/brain-guard:{verb} is the user's: type it in a session that no agent started"
        )));
    }
    Ok(())
}
