//! The lines of the journal: what the guard read, decided, said and did. Pure; [`crate::files::journal`]
//! writes and reads them.

mod added;
mod words;

use serde::{Deserialize, Serialize};

pub use added::{Added, Sum, added};

use crate::boundary::{Carrier, Delivery, Step, Token};
use crate::policy::decide::Denial;
use crate::succession;
use base::clock::Time;
use sessions::gauge::Reading;

/// One thing the guard did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When it happened.
    pub at: Time,
    /// What happened; in JSON its `kind` and fields are the line's own.
    #[serde(flatten)]
    pub what: What,
    /// The name of the tier by usage; a cap makes the effective tier lower. Empty if no usage was
    /// read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tier: String,
    /// Why the tier did not block, if something prevented it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<String>,
    /// The context usage at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Reading>,
    /// The compaction file's size at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Reading>,
    /// What the agent was told. All of it enters the context.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub to_agent: String,
    /// What the user was told.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub to_user: String,
}

impl Line {
    /// A line with only a time and an event.
    pub fn new(at: Time, what: What) -> Self {
        let (tier, to_agent, to_user) = (String::new(), String::new(), String::new());
        Self { at, what, tier, cap: None, context: None, file: None, to_agent, to_user }
    }

    /// Whether it is a note to the agent.
    pub fn is_note(&self) -> bool {
        matches!(self.what, What::Note { .. }) && !self.to_agent.is_empty()
    }
}

/// The event of a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum What {
    /// The guard had no opinion on a call.
    Pass(Call),
    /// A carve-out allowed a call.
    Allow(Call),
    /// A file was read in part.
    Partial(Call),
    /// A call was denied.
    Deny(Call),
    /// A call would have been denied without shadow mode.
    WouldDeny(Call),
    /// A note to the agent or the user without a decision.
    Note {
        /// The event it came with.
        event: String,
    },
    /// The end of a turn was refused.
    Stop,
    /// The end of a turn would have been refused without shadow mode.
    WouldStop,
    /// The output of a shell was shortened.
    Cut(Cut),
    /// The file was sealed.
    Sealed(Sealed),
    /// A boundary took a step.
    Boundary(BoundaryStep),
    /// Notes were delivered to the session.
    Delivered {
        /// Their size.
        bytes: u64,
    },
    /// The carrier does not press its keys yet.
    CarrierWaits {
        /// The boundary's token.
        token: String,
        /// The carrier.
        carrier: Carrier,
        /// What it waits for.
        why: String,
    },
    /// The carrier pressed the keys that clear, or ran its program.
    CarrierActed {
        /// The boundary's token.
        token: String,
        /// The carrier.
        carrier: Carrier,
        /// How.
        method: ClearMethod,
    },
    /// The carrier gave up.
    CarrierGaveUp {
        /// The boundary's token.
        token: String,
        /// The carrier.
        carrier: Carrier,
        /// The carrier that takes over.
        next: Option<Carrier>,
        /// Why.
        why: String,
    },
    /// The notes in the new session's transcript were compared with the sealed ones.
    Arrived {
        /// The boundary's token.
        token: String,
        /// All of them are there.
        whole: bool,
    },
    /// The client compacted the conversation itself.
    ClientCompaction,
    /// The operator took or returned the override.
    Override {
        /// Until when, in words.
        until: String,
    },
    /// The blocks were lifted for a while.
    Lifted {
        /// Why.
        why: String,
    },
    /// A boundary was due and did not open.
    NoBoundary {
        /// Why.
        why: String,
    },
    /// Surgery or extraction of the running session took a step.
    Succession {
        /// The step.
        step: succession::Step,
        /// What it does, in words.
        effect: String,
        /// The session to go on in, once it exists.
        to: Option<String>,
        /// Why it failed.
        why: Option<String>,
    },
    /// Sessions left the store, which was beyond its bounds.
    StoreBounds {
        /// The sessions.
        sessions: Vec<String>,
        /// Bytes that this freed.
        bytes: u64,
    },
    /// A user who was away was told something.
    Notified {
        /// What.
        text: String,
    },
    /// Something did not work, and the guard went on.
    Fault {
        /// What did not work.
        what: String,
        /// Why.
        error: String,
    },
}

impl What {
    /// A fault.
    pub fn fault(what: &str, error: &dyn std::fmt::Display) -> Self {
        Self::Fault { what: what.to_owned(), error: error.to_string() }
    }

    /// The names of all kinds, as in JSON.
    pub const KINDS: [&str; 24] = [
        "pass",
        "allow",
        "partial",
        "deny",
        "would-deny",
        "note",
        "stop",
        "would-stop",
        "cut",
        "sealed",
        "boundary",
        "delivered",
        "carrier-waits",
        "carrier-acted",
        "carrier-gave-up",
        "arrived",
        "client-compaction",
        "override",
        "lifted",
        "no-boundary",
        "succession",
        "store-bounds",
        "notified",
        "fault",
    ];

    /// The name of the kind, as in JSON.
    pub fn kind(&self) -> String {
        let json = serde_json::to_value(self).unwrap_or_default();
        json["kind"].as_str().unwrap_or_default().to_owned()
    }

    /// The call that was decided.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Self::Pass(call)
            | Self::Allow(call)
            | Self::Partial(call)
            | Self::Deny(call)
            | Self::WouldDeny(call) => Some(call),
            Self::Note { .. }
            | Self::Stop
            | Self::WouldStop
            | Self::Cut(_)
            | Self::Sealed(_)
            | Self::Boundary(_)
            | Self::Delivered { .. }
            | Self::CarrierWaits { .. }
            | Self::CarrierActed { .. }
            | Self::CarrierGaveUp { .. }
            | Self::Arrived { .. }
            | Self::ClientCompaction
            | Self::Override { .. }
            | Self::Lifted { .. }
            | Self::NoBoundary { .. }
            | Self::Succession { .. }
            | Self::StoreBounds { .. }
            | Self::Notified { .. }
            | Self::Fault { .. } => None,
        }
    }
}

/// How a carrier clears a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClearMethod {
    /// By the key chord for `/clear`.
    Chord,
    /// By typing the command.
    Typed,
}

/// A decided call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Call {
    /// The client's `tool_use_id`.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The band of the tool.
    pub band: String,
    /// A subagent made the call.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub subagent: bool,
    /// Why it was or would have been denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Denial>,
    /// Why its command, which names the program, is not one of the agent's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_own: Option<String>,
    /// For a call denied by tier: what would have passed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passes: Vec<String>,
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
pub struct Sealed {
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
pub struct BoundaryStep {
    /// Its token.
    pub token: String,
    /// The step.
    pub step: Step,
    /// Who performs it.
    pub carrier: Carrier,
    /// The job.
    pub job: String,
    /// Which of the job's texts is delivered.
    pub delivery: Delivery,
    /// Version of the sealed file; 0 if none is delivered.
    pub version: u64,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl From<&Token> for BoundaryStep {
    fn from(token: &Token) -> Self {
        Self {
            token: token.id.clone(),
            step: token.step,
            carrier: token.carrier,
            job: token.job.clone(),
            delivery: token.delivery,
            version: token.version,
            why: token.why.as_ref().map(ToString::to_string),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_those_of_the_json() {
        let error = serde_json::from_str::<What>(r#"{"kind":"?"}"#).unwrap_err().to_string();
        let listed: Vec<&str> = error.split('`').skip(1).step_by(2).skip(1).collect();
        assert_eq!(listed, What::KINDS, "{error}");
        for kind in What::KINDS {
            let fields = r#""id":"","tool":"","event":"","before":0,"after":0,"path":"","job":"","version":1,
                "token":"","step":"done","carrier":"mod","delivery":"sealed","bytes":0,"why":"tier","method":"chord",
                "whole":true,"until":"","effect":"","sessions":[],"text":"","what":"","error":"" "#;
            let step = if kind == "boundary" { "pending" } else { "done" };
            let json = format!(r#"{{"kind":"{kind}",{}}}"#, fields.replace("done", step));
            let what: What = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{kind}: {e}"));
            assert_eq!(what.kind(), kind);
        }
    }
}
