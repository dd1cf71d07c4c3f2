//! The lines of the journal.

use serde::{Deserialize, Serialize};

use crate::boundary::{Carrier, Step};
use base::clock::Time;
use sessions::gauge::Reading;

/// One thing the guard did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When it happened.
    pub at: Time,
    /// What happened.
    pub what: What,
    /// The name of the tier that the gauges were in; a cap makes the effective tier lower. Empty if
    /// no gauge was read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tier: String,
    /// Why the tier did not block, if something prevented it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<String>,
    /// The context's gauge at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Reading>,
    /// The compaction file's gauge at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Reading>,
    /// What the agent was told. All of it enters the context.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
    /// What the user was told.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub told: String,
}

impl Line {
    /// A line with only a time and an event.
    pub fn new(at: Time, what: What) -> Self {
        let (tier, said, told) = Default::default();
        Self { at, what, tier, cap: None, context: None, file: None, said, told }
    }
}

/// The event of a journal line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A decision about a tool call.
    Call(Called),
    /// A note to the agent or the user without a decision; holds the event it came with.
    Note(String),
    /// The end of a turn was refused, or would have been without shadow mode.
    Stop(Verdict),
    /// The output of a shell was shortened.
    Cut(Cut),
    /// The file was sealed.
    Sealed(SealedAs),
    /// A boundary took a step.
    Boundary(Crossed),
    /// A delivery to the new session, with its size in bytes.
    Delivered(u64),
    /// The client compacted the conversation itself.
    Compacted,
    /// The operator took or returned the override; holds its end in words.
    Override(String),
}

/// A decided call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Called {
    /// The client's `tool_use_id`.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The band of the tool.
    pub band: String,
    /// A subagent made the call.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub subagent: bool,
    /// The result.
    pub verdict: Verdict,
    /// Why it was or would have been denied: `tier`, `sealed`, `operator`, `main-loop-only`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Why its command, which names the program, is not one of the agent's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_own: Option<String>,
    /// For a call denied by tier: what would have passed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passes: Vec<String>,
}

/// The result of a call, or of a turn's end.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The guard had no opinion.
    #[default]
    Pass,
    /// A carve-out allowed it.
    Allow,
    /// A file was read in part.
    Partial,
    /// Denied.
    Deny,
    /// It would have been denied without shadow mode.
    WouldDeny,
}

/// A shortened output, in characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// The client's `tool_use_id`.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Before.
    pub before: u64,
    /// After.
    pub after: u64,
    /// The path of the complete output.
    pub path: String,
}

/// A sealed version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedAs {
    /// The job.
    pub job: String,
    /// The version.
    pub version: u64,
    /// Words before and after; `None` if the verb that sealed did not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<(u64, u64)>,
    /// Whether the guard sealed without the agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_guard: bool,
}

/// The step of a boundary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crossed {
    /// Its token.
    pub token: String,
    /// The step.
    pub step: Step,
    /// Who performs it.
    pub carrier: Carrier,
    /// The job.
    pub job: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}
