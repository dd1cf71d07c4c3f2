//! A session's journal: one line for everything the guard decided, said or did in
//! it, for `explain` and `report`. A call that passes below every tier leaves none.

use serde::{Deserialize, Serialize};

use crate::clock::Time;
use crate::policy::gauge::Reading;

/// One thing the guard did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When.
    pub at: Time,
    /// What.
    pub what: What,
    /// The tier that the gauges were in, by name; the effective one is lower under a cap.
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

/// What a line of the journal is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A tool call was decided on.
    Call(Called),
    /// A note to the agent, without a decision.
    Note,
    /// A turn's end was refused.
    Stop,
    /// The file was sealed, as this version.
    Sealed(u32),
    /// The boundary took this step.
    Boundary(String),
    /// This much of the sealed file was delivered, in bytes.
    Delivered(u64),
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
    pub subagent: bool,
    /// What came of it.
    pub verdict: Verdict,
    /// Why, where it was denied (the decision's own word: tier, operator, sealed …).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The carve-outs looked at, and what each said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
}

/// What came of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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
