//! Who runs a verb: the operator's verbs refuse an agent.

use std::path::Path;

use super::Failure;
use base::env::{self, Env};
use base::paths::Places;
use guard::files::ancestry::below_a_client;

/// The operator's verbs that can also be typed at the client's prompt.
const AT_THE_PROMPT: [&str; 4] = ["override", "now", "later", "job accept"];

/// Whether an agent runs this. The client marks every process it starts. The agent can remove the
/// mark, but it cannot hide the client among its parent processes.
pub fn is_agent(env: &Env) -> bool {
    let places = || Places::for_project(env, Path::new("/"));
    env.get(env::CLAUDECODE).is_some() || places().is_some_and(|p| below_a_client(&p, 0))
}

/// Refuses an operator's verb that an agent runs.
///
/// # Errors
/// An agent runs it.
pub fn refuse_agent(env: &Env, verb: &str) -> Result<(), Failure> {
    if !is_agent(env) {
        return Ok(());
    }
    let typed = if AT_THE_PROMPT.contains(&verb) {
        format!(", or type /brain-guard:{verb} at the prompt")
    } else {
        String::new()
    };
    Err(Failure::refused(format_args!(
        "only the user may run `brain-guard {verb}`: run it in a terminal of your own{typed}"
    )))
}

/// Refuses an operator's verb that an agent typed at a prompt. The client starts the hook directly.
/// A hook further below a client got its prompt from the agent's shell, or from a client that the
/// agent started.
///
/// # Errors
/// An agent typed it.
pub fn refuse_prompt_of_agent(places: &Places, verb: &str) -> Result<(), Failure> {
    if below_a_client(places, 1) {
        return Err(Failure::refused(format_args!(
            "only the user may run /brain-guard:{verb}: type it in a session that no agent started"
        )));
    }
    Ok(())
}
