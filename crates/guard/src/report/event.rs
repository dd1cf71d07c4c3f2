//! What the guard did at one time, from the journal or the log.

use serde::Serialize;

use base::clock::Time;
use sessions::gauge::Reading;

/// One action of the guard.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// When.
    pub at: Time,
    /// The kind of event.
    #[serde(flatten)]
    pub what: What,
    /// The tier at that time; empty if the gauges were not read.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tier: String,
    /// Why the tier did not block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<String>,
    /// The context usage at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Reading>,
    /// The compaction file's size at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Reading>,
    /// The text for the agent, else for the user, else a description.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Bytes of the text for the agent, which the context gains.
    #[serde(skip_serializing_if = "is_zero")]
    pub bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The kind of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum What {
    /// The guard had no opinion on a call.
    Passed(Call),
    /// A call was allowed by a carve-out.
    Allowed(Call),
    /// A file was read in part.
    Partial(Call),
    /// A call was denied.
    Denied(Call),
    /// A call would have been denied without shadow mode.
    WouldDeny(Call),
    /// A note to the agent.
    Note,
    /// A message to the user only.
    Told,
    /// A turn's end was refused.
    Stop,
    /// A turn's end would have been refused without shadow mode.
    WouldStop,
    /// A shell's output was cut.
    Cut {
        /// The tool.
        tool: String,
    },
    /// The file was sealed.
    Sealed {
        /// The sealed version.
        version: u64,
    },
    /// The boundary took a step.
    Boundary {
        /// The step.
        step: String,
    },
    /// A new session got the sealed file.
    Delivered {
        /// Size of the delivered text.
        bytes: u64,
    },
    /// The operator turned the guard off or on.
    Override,
    /// Blocks were lifted, because no boundary was possible.
    Lifted,
    /// A boundary did not happen.
    NoBoundary,
    /// The client compacted by itself.
    Compaction,
    /// An internal error after which the guard continued.
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
    /// A subagent made it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub subagent: bool,
    /// The name of the denial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Event {
    /// An event without any further data.
    pub fn bare(at: Time, what: What, text: String) -> Self {
        Self { at, what, tier: String::new(), cap: None, context: None, file: None, text, bytes: 0 }
    }

    /// A short label.
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

    /// A tooltip: label, tier, gauges and the first line of the text.
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
