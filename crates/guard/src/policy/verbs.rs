//! Our own verbs, by who may run them.

/// The verbs an agent may run at any stance.
pub const AGENT_VERBS: [&str; 8] =
    ["append", "close", "seal", "status", "explain", "phase", "job", "steering"];

/// The verbs of these that a subagent may run: the others are the main loop's.
pub const SUBAGENT_VERBS: [&str; 4] = ["append", "status", "explain", "steering"];

/// Whether a subagent may run the verb.
pub fn subagents(verb: &str) -> bool {
    SUBAGENT_VERBS.contains(&verb)
}
