//! What a line of the journal holds.

use serde::{Deserialize, Serialize};

use crate::boundary::{Carrier, Step};
use base::clock::Time;
use sessions::gauge::Reading;

/// One thing the guard did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When.
    pub at: Time,
    /// What.
    pub what: What,
    /// The tier that the gauges were in, by name; the effective one is lower under a cap.
    /// Empty where no gauge was read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tier: String,
    /// Why the tier did not block, where something stood against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<String>,
    /// The context's gauge then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Reading>,
    /// The file's gauge then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Reading>,
    /// What the agent was told: all of it lands in the context.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
    /// What the user was told.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub told: String,
}

impl Line {
    /// A line with nothing but its time and subject.
    pub fn new(at: Time, what: What) -> Self {
        let (tier, said, told) = Default::default();
        Self { at, what, tier, cap: None, context: None, file: None, said, told }
    }
}

/// What a line of the journal is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A tool call was decided on.
    Call(Called),
    /// A note to the agent or the user, without a decision: the event it came with.
    Note(String),
    /// A turn's end was refused, or would have been but for shadow mode.
    Stop(Verdict),
    /// A shell's output was cut.
    Cut(Cut),
    /// The file was sealed.
    Sealed(SealedAs),
    /// A boundary took a step.
    Boundary(Crossed),
    /// This much of what crosses was delivered, in bytes.
    Delivered(u64),
    /// The client compacted the conversation itself.
    Compacted,
    /// The operator took the override, or gave it back: until when, in words.
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
    /// Its band.
    pub band: String,
    /// Made by a subagent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub subagent: bool,
    /// What came of it.
    pub verdict: Verdict,
    /// Why, where it was or would have been denied: `tier`, `sealed`, `operator`, `main-loop-only`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The carve-outs looked at, and what each said; where one was needed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
    /// Of a call denied by tier: where its band is let through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<String>,
}

/// What came of a call, or of a turn's end.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No opinion.
    #[default]
    Pass,
    /// Allowed by a carve-out.
    Allow,
    /// A file was read in part.
    Partial,
    /// Denied.
    Deny,
    /// It would have been denied, but for shadow mode.
    WouldDeny,
}

/// A carve-out that was tried on a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// Its name.
    pub carve_out: String,
    /// Whether it held.
    pub held: bool,
    /// What stood against it, or what it matched.
    pub why: String,
}

/// An output that was cut. Characters.
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
    /// Where the whole lies.
    pub path: String,
}

/// A sealed version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedAs {
    /// The job.
    pub job: String,
    /// The version.
    pub version: u64,
    /// Words before and after; `None` where the verb that sealed did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<(u64, u64)>,
    /// The guard sealed without the agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_guard: bool,
}

/// Where a boundary stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crossed {
    /// Its token.
    pub token: String,
    /// The step.
    pub step: Step,
    /// Who carries it out.
    pub carrier: Carrier,
    /// The job.
    pub job: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}
