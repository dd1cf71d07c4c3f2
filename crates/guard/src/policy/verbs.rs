//! Which verbs an agent may run.

/// The verbs that an agent may run at every tier.
pub const AGENT_VERBS: [&str; 8] =
    ["append", "close", "seal", "status", "explain", "phase", "job", "steering"];

/// Whether the verb works on the running session with `--here`.
pub fn works_here(verb: &str) -> bool {
    matches!(verb, "surgery" | "extract")
}

/// Those that a subagent may run. The others are for the main agent only.
pub const SUBAGENT_VERBS: [&str; 4] = ["append", "status", "explain", "steering"];

/// Whether a subagent may run the verb.
pub fn is_subagent_verb(verb: &str) -> bool {
    SUBAGENT_VERBS.contains(&verb)
}
