//! Our commands that a person types at the client's prompt and the program answers there.

use super::{
    doctor, explain, job, live_notes, marketplace_setup, notice, operator_override, report, status,
    succession,
};
use guard::hook::facts::Facts;

/// The answer to a command, by its name without the plugin's prefix. `None` for commands that the
/// agent runs.
pub fn answer(facts: &Facts, command: &str, args: &str) -> Option<String> {
    Some(match command {
        "override" => operator_override::at_the_prompt(facts, args),
        "now" | "later" => notice::at_the_prompt(facts, command, args),
        "status" => status::at_the_prompt(facts, args),
        "explain" => explain::at_the_prompt(facts),
        "notes" => live_notes::at_the_prompt(facts),
        "report" => report::at_the_prompt(facts),
        "doctor" => doctor::at_the_prompt(facts.env, facts.now),
        "setup" => marketplace_setup::at_the_prompt(facts, args),
        "job" => job::at_the_prompt(facts, args),
        "slim" | "extract" | "view" | "undo" => succession::at_the_prompt(facts, command, args),
        _ => return None,
    })
}
