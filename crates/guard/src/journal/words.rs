//! A line of the journal in words: for `log`, the report and its page.

use super::{ClearMethod, Line, What};
use base::shown::{group_thousands, tenths};

impl Line {
    /// What happened, in a few words.
    pub fn label(&self) -> String {
        match &self.what {
            What::Pass(call) => format!("{} passed", call.tool),
            What::Allow(call) => format!("{} allowed", call.tool),
            What::Partial(call) => format!("{} in part", call.tool),
            What::Deny(call) => format!("{} denied", call.tool),
            What::WouldDeny(call) => format!("{} would be denied", call.tool),
            What::Note { .. } if self.to_agent.is_empty() => "user told".into(),
            What::Note { .. } => "note".into(),
            What::Stop => "turn's end refused".into(),
            What::WouldStop => "turn's end would be refused".into(),
            What::Cut(cut) => format!("{} output cut", cut.tool),
            What::Sealed(sealed) => format!("sealed v{}", sealed.version),
            What::Boundary(boundary) => format!("boundary {}", boundary.step.name()),
            What::Delivered { bytes } => format!("delivered {} bytes", group_thousands(*bytes)),
            What::CarrierWaits { carrier, .. } => format!("{} waits", carrier.name()),
            What::CarrierActed { carrier, .. } => format!("{} acted", carrier.name()),
            What::CarrierGaveUp { carrier, .. } => format!("{} gave up", carrier.name()),
            What::Arrived { whole: true, .. } => "the notes arrived".into(),
            What::Arrived { whole: false, .. } => "the notes did not arrive whole".into(),
            What::ClientCompaction => "client compacted".into(),
            What::Override { .. } => "override".into(),
            What::Lifted { .. } => "blocks lifted".into(),
            What::NoBoundary { .. } => "no boundary".into(),
            What::Succession { step, .. } => format!("surgery {}", step.name()),
            What::StoreBounds { .. } => "store within its bounds".into(),
            What::Notified { .. } => "user notified".into(),
            What::Fault { .. } => "fault".into(),
        }
    }

    /// What was said to the agent, else to the user, else what else is known.
    pub fn text(&self) -> String {
        let because = |why: &Option<String>| why.as_ref().map(|why| format!(": {why}"));
        match &self.what {
            _ if !self.to_agent.is_empty() => self.to_agent.clone(),
            _ if !self.to_user.is_empty() => self.to_user.clone(),
            What::Cut(cut) => {
                format!("{} of {} characters left; {}", cut.after, cut.before, cut.path)
            }
            What::Sealed(sealed) => {
                format!("{}{}", sealed.job, if sealed.by_guard { ", by the guard" } else { "" })
            }
            What::Boundary(boundary) => {
                let why = because(&boundary.why).unwrap_or_default();
                format!("{} by {}{why}", boundary.job, boundary.carrier.name())
            }
            What::CarrierActed { method, .. } => match method {
                ClearMethod::Chord => "by its key chord".into(),
                ClearMethod::Typed => "by typing /clear".into(),
            },
            What::CarrierGaveUp { next: Some(next), why, .. } => {
                format!("{why}; {} takes over", next.name())
            }
            What::CarrierWaits { why, .. }
            | What::CarrierGaveUp { why, .. }
            | What::Lifted { why }
            | What::NoBoundary { why } => why.clone(),
            What::Override { until: text } | What::Notified { text } => text.clone(),
            What::Succession { effect, to, why, .. } => {
                let to = to.as_ref().map(|to| format!("; goes on in {to}")).unwrap_or_default();
                format!("{effect}{to}{}", because(why).unwrap_or_default())
            }
            What::StoreBounds { sessions, .. } => format!("removed: {}", sessions.join(", ")),
            What::Fault { what, error } => format!("{what}: {error}"),
            _ => String::new(),
        }
    }

    /// On one line: label, tier, gauges and the first line of the text.
    pub fn brief(&self) -> String {
        let mut parts = vec![self.label()];
        if !self.tier.is_empty() {
            parts.push(format!("tier {}", self.tier));
        }
        parts.extend(self.cap.as_ref().map(|cap| format!("not blocked: {cap}")));
        parts.extend(self.context.map(|c| format!("context {:.1} %", tenths(c.percent()))));
        parts.extend(self.file.map(|f| format!("file {:.0} %", f.percent().floor())));
        let text = self.text();
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        if !first.is_empty() {
            let cut: String = first.chars().take(160).collect();
            parts.push(if cut.len() < first.len() { format!("{cut} …") } else { cut });
        }
        parts.join(" · ")
    }
}
