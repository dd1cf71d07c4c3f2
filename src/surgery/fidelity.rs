//! How much of a round comes into the context (seed 000, "Within-Round Selection"). The
//! user's and the agent's words always do.

use serde::{Deserialize, Serialize};

/// What becomes of a kind of block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Much {
    /// As it is.
    #[default]
    Full,
    /// A line that says what it was and how to get it: a reference to thinking, the name and
    /// description of a call, size and first line of a result.
    #[value(alias = "ref")]
    Summary,
    /// Nothing.
    Omit,
}

/// What becomes of each kind of block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Fidelity {
    /// Thinking blocks.
    pub thinking: Much,
    /// Tool calls.
    pub tool_use: Much,
    /// What tool calls gave.
    pub tool_result: Much,
}
