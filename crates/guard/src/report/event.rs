//! What the guard did at one time, whoever wrote it down: the journal or the log.

use serde::Serialize;

use base::clock::Time;
use sessions::gauge::Reading;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// When.
    pub at: Time,
    /// What.
    #[serde(flatten)]
    pub what: What,
    /// The tier that the gauges were in; empty where none was looked at.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tier: String,
    /// Why the tier did not block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<String>,
    /// The context's gauge then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Reading>,
    /// The file's gauge then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Reading>,
    /// What the agent was told, else the user, else what is known of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Bytes of what the agent was told: so much of it lands in the context.
    #[serde(skip_serializing_if = "is_zero")]
    pub bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What an event is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum What {
    /// A call was let through with no opinion.
    Passed(Call),
    /// A call was allowed by a carve-out.
    Allowed(Call),
    /// A file was read in part.
    Partial(Call),
    /// A call was denied.
    Denied(Call),
    /// A call would have been denied, but for shadow mode.
    WouldDeny(Call),
    /// A note to the agent.
    Note,
    /// A word to the user alone.
    Told,
    /// A turn's end was refused.
    Stop,
    /// A turn's end would have been refused, but for shadow mode.
    WouldStop,
    /// A shell's output was cut.
    Cut {
        /// The tool.
        tool: String,
    },
    /// The file was sealed.
    Sealed {
        /// As this version.
        version: u64,
    },
    /// The boundary took a step.
    Boundary {
        /// Which one.
        step: String,
    },
    /// The sealed file was delivered.
    Delivered {
        /// So much of it.
        bytes: u64,
    },
    /// The operator took the guard off, or put it on again.
    Override,
    /// Blocks were lifted, since there was no way out.
    Lifted,
    /// There was no boundary.
    NoBoundary,
    /// The client compacted by itself.
    Compaction,
    /// A fault of the guard's that it let go.
    Fault,
}

/// A tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Call {
    /// The client's `tool_use_id`.
    #[serde(rename = "call")]
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Its band.
    pub band: String,
    /// Made by a subagent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub subagent: bool,
    /// Why it was denied, in the decision's own word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Event {
    /// An event of which nothing but this is known.
    pub fn bare(at: Time, what: What, text: String) -> Self {
        Self { at, what, tier: String::new(), cap: None, context: None, file: None, text, bytes: 0 }
    }

    /// What happened, in a few words.
    pub(super) fn short(&self) -> String {
        let at = |call: &Call, word: &str| format!("{} {word}", call.tool);
        match &self.what {
            What::Passed(call) => at(call, "passed"),
            What::Allowed(call) => at(call, "allowed"),
            What::Partial(call) => at(call, "in part"),
            What::Denied(call) => at(call, "denied"),
            What::WouldDeny(call) => at(call, "would be denied"),
            What::Note => "note".into(),
            What::Told => "user told".into(),
            What::Stop => "turn's end refused".into(),
            What::WouldStop => "turn's end would be refused".into(),
            What::Cut { tool } => format!("{tool} output cut"),
            What::Sealed { version } => format!("sealed v{version}"),
            What::Boundary { step } => format!("boundary {step}"),
            What::Delivered { bytes } => format!("delivered {bytes} bytes"),
            What::Override => "override".into(),
            What::Lifted => "blocks lifted".into(),
            What::NoBoundary => "no boundary".into(),
            What::Compaction => "client compacted".into(),
            What::Fault => "fault".into(),
        }
    }

    /// What it was about, for a tooltip: the gauges and the first line of the text.
    pub(super) fn long(&self) -> String {
        let mut parts = vec![self.short()];
        if !self.tier.is_empty() {
            parts.push(format!("tier {}", self.tier));
        }
        parts.extend(self.cap.as_ref().map(|cap| format!("not blocked: {cap}")));
        parts.extend(self.context.map(|c| format!("context {:.1} %", c.percent())));
        parts.extend(self.file.map(|f| format!("file {:.0} %", f.percent())));
        let first = self.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        if !first.is_empty() {
            let cut: String = first.chars().take(160).collect();
            parts.push(if cut.len() < first.len() { format!("{cut} …") } else { cut });
        }
        parts.join(" · ")
    }
}
