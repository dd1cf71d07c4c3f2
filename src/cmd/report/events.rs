//! Turns lines of the journal and of the log into a report's events.

use std::path::Path;

use serde_json::Value;

use base::atomic;
use base::clock::Time;
use guard::files::journal::{self, Called, Line, Verdict};
use guard::report::{Call, Event, What};

pub(super) fn of_journal(line: Line) -> Event {
    let Line { at, what, tier, cap, context, file, said, told } = line;
    let bytes = said.len() as u64;
    let to_agent = !said.is_empty();
    let mut text = if to_agent { said } else { told };
    let what = match what {
        journal::What::Call(called) => call(called),
        journal::What::Note(_) if to_agent => What::Note,
        journal::What::Note(_) => What::Told,
        journal::What::Stop(Verdict::WouldDeny) => What::WouldStop,
        journal::What::Stop(_) => What::Stop,
        journal::What::Cut(cut) => {
            text = format!("{} of {} characters left; {}", cut.after, cut.before, cut.path);
            What::Cut { tool: cut.tool }
        }
        journal::What::Sealed(sealed) => {
            let by = if sealed.by_guard { ", by the guard" } else { "" };
            text = format!("{}{by}", sealed.job);
            What::Sealed { version: sealed.version }
        }
        journal::What::Boundary(crossed) => {
            let why = crossed.why.map(|why| format!(": {why}")).unwrap_or_default();
            text = format!("{} by {}{why}", crossed.job, crossed.carrier.name());
            What::Boundary { step: kebab(crossed.step) }
        }
        journal::What::Delivered(bytes) => What::Delivered { bytes },
        journal::What::Compacted => What::Compaction,
        journal::What::Override(until) => {
            text = until;
            What::Override
        }
    };
    Event { at, what, tier, cap, context, file, text, bytes }
}

fn call(called: Called) -> What {
    let Called { id, tool, band, subagent, verdict, why, .. } = called;
    let call = Call { id, tool, band, subagent, why };
    match verdict {
        Verdict::Pass => What::Passed(call),
        Verdict::Allow => What::Allowed(call),
        Verdict::Partial => What::Partial(call),
        Verdict::Deny => What::Denied(call),
        Verdict::WouldDeny => What::WouldDeny(call),
    }
}

/// The word for a value in its type's JSON.
pub(super) fn kebab(value: impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().map(str::to_owned).unwrap_or_default()
}

/// A line of the log that belongs in a report, and its session if it names one.
pub(super) struct Logged {
    pub(super) session: Option<String>,
    pub(super) event: Event,
}

/// Events that only the log has: faults, lifted blocks, refused boundaries. Includes the rotated
/// log.
pub(super) fn of_log(log: &Path) -> Vec<Logged> {
    let mut found = Vec::new();
    for path in [log.with_extension("1.jsonl"), log.to_path_buf()] {
        let text = atomic::read_text(&path).ok().flatten().unwrap_or_default();
        found.extend(text.lines().filter_map(logged));
    }
    found
}

fn logged(line: &str) -> Option<Logged> {
    let line: Value = serde_json::from_str(line).ok()?;
    let field = |name: &str| line[name].as_str().map(str::to_owned);
    let at: Time = field("at")?.parse().ok()?;
    let what = match line["kind"].as_str()? {
        "fault" | "carrier-failed" => What::Fault,
        "lifted" => What::Lifted,
        "no-boundary" => What::NoBoundary,
        _ => return None,
    };
    let text = [field("what"), field("error"), field("why")];
    let text = text.into_iter().flatten().collect::<Vec<_>>().join(": ");
    Some(Logged { session: field("session"), event: Event::bare(at, what, text) })
}
