//! Explains one line of the journal, and what would have let a call through.

use std::fmt::{self, Write as _};

use serde::Serialize;

use base::clock::Time;
use base::shown::{group_thousands, local_time};
use guard::hook::facts::Facts;
use guard::journal::{Call, Line, What};
use guard::policy::coach::figure_in_full;
use guard::policy::decide::Denial;

/// The operator's way, which is always open.
const OVERRIDE: &str =
    "the operator's override: /brain-guard:override 30m, or `brain-guard override` in a terminal";

/// A line of the journal, with facts derived from it.
#[derive(Debug, Serialize)]
pub struct Account {
    #[serde(flatten)]
    line: Line,
    head: String,
    context_age_ms: Option<i64>,
    file_age_ms: Option<i64>,
    let_through: Vec<String>,
}

impl Account {
    pub fn of(facts: &Facts, line: &Line) -> Self {
        let age = |at: Time| (line.at - at).num_milliseconds().max(0);
        Self {
            head: head(line),
            context_age_ms: line.context.map(|r| age(r.at)),
            file_age_ms: line.file.map(|r| age(r.at)),
            let_through: let_through(facts, line),
            line: line.clone(),
        }
    }

    /// A short form with only the first line of the message to the agent. The rest is the way out,
    /// which a reader in the session knows already.
    pub fn brief(&self) -> String {
        let mut lines = self.line.to_agent.lines();
        let first = lines.next().unwrap_or_default();
        let more = if lines.next().is_some() { " […]" } else { "" };
        self.in_words(&format!("{first}{more}"))
    }

    fn in_words(&self, said: &str) -> String {
        let line = &self.line;
        let mut out = format!("{} at {}", self.head, local_time(line.at, "%Y-%m-%d %H:%M:%S"));
        let mut add = |name: &str, value: &str| {
            let value = value.trim_end().replace('\n', "\n              ");
            let _ = write!(out, "\n  {name:<11} {value}");
        };
        if let Some(call) = line.what.call() {
            add("because", &because(call, line));
        }
        if let Some(reading) = &line.context {
            add("context", &figure_in_full(reading, "tokens", line.at));
        }
        if let Some(reading) = &line.file {
            add("file", &figure_in_full(reading, "words", line.at));
        }
        if !line.tier.is_empty() {
            add("tier", &line.tier);
        }
        if let Some(cap) = &line.cap {
            add("not blocked", cap);
        }
        for way in &self.let_through {
            add("would pass", way);
        }
        if !said.is_empty() {
            add("said", said);
        }
        if !line.to_user.is_empty() {
            add("told user", &line.to_user);
        }
        out
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(&self.line.to_agent))
    }
}

fn head(line: &Line) -> String {
    match &line.what {
        What::Pass(call) => decided(call, "passed"),
        What::Allow(call) => decided(call, "allowed"),
        What::Partial(call) => decided(call, "read in part"),
        What::Deny(call) => decided(call, "blocked"),
        What::WouldDeny(call) => decided(call, "would have been blocked (shadow mode)"),
        What::Note { event } if line.to_agent.is_empty() => {
            format!("message to the user ({event})")
        }
        What::Note { event } => {
            format!("note ({event}, {} bytes)", group_thousands(line.to_agent.len() as u64))
        }
        What::WouldStop => "turn's end, would have been refused,".to_owned(),
        What::Stop => "turn's end refused".to_owned(),
        What::Cut(cut) => format!(
            "output of {} ({}) cut from {} to {} characters, full output in {},",
            cut.tool,
            cut.id,
            group_thousands(cut.before),
            group_thousands(cut.after),
            cut.path
        ),
        What::Sealed(sealed) => {
            let words = sealed.words.map_or_else(String::new, |(before, after)| {
                format!(", {} words of {}", group_thousands(after), group_thousands(before))
            });
            let by = if sealed.by_guard { " by the guard" } else { "" };
            format!("sealed{by} as version {} of {}{words},", sealed.version, sealed.job)
        }
        What::Override { until } => format!("{until},"),
        _ => match line.text() {
            text if text.is_empty() => line.label(),
            text => format!("{}: {text},", line.label()),
        },
    }
}

fn decided(call: &Call, result: &str) -> String {
    let by = if call.subagent { " of a subagent" } else { "" };
    format!("{}{by} ({}), {result},", call.tool, call.id)
}

fn because(call: &Call, line: &Line) -> String {
    let not_own = call.not_own.as_ref();
    let not_own = not_own.map(|why| format!("; it doesn't count as a brain-guard command: {why}"));
    let not_own = not_own.unwrap_or_default();
    match call.why {
        Some(Denial::Tier) => {
            format!("the tier {} blocks the band {}{not_own}", line.tier, call.band)
        }
        Some(Denial::Sealed) => {
            format!("the notes are sealed, and the boundary waits for the turn's end{not_own}")
        }
        Some(Denial::Operator) => {
            "it is the operator's: the override, the settings, the state".into()
        }
        Some(Denial::MainLoopOnly) => {
            "a subagent may not close or seal, nor move phases and jobs".into()
        }
        Some(Denial::Unanswerable) => "the session is to end, and nobody is here to answer".into(),
        None => match (&line.what, &line.cap) {
            (What::Allow(_), _) => {
                "it is about the notes or a saved output, or a command of brain-guard".into()
            }
            (What::Partial(_), _) => "this session has read or edited the file before".into(),
            (_, Some(cap)) => format!("nothing is blocked: {cap}"),
            _ => format!("the band {} is not blocked there", call.band),
        },
    }
}

/// What would have let a call through that was denied, or that shadow mode would have denied.
fn let_through(facts: &Facts, line: &Line) -> Vec<String> {
    let Some(call) = line.what.call() else { return Vec::new() };
    let mut ways = Vec::new();
    match call.why {
        Some(Denial::Tier) => {
            ways.extend(call.passes.iter().cloned());
            let live = facts.places.compaction(&facts.session.job);
            ways.push(format!("Read, Edit or Write of {}", live.display()));
            ways.push(
                "a command of nothing but `brain-guard append|close|seal|status|explain|steering|phase|job`, joined by && or ;".into(),
            );
            ways.push(OVERRIDE.into());
        }
        Some(Denial::Sealed) => {
            ways.push("the turn's end: the work goes on in the fresh session".into());
            ways.push(OVERRIDE.into());
        }
        Some(Denial::Operator) => {
            ways.push("nothing: a person may do it outside the session".into());
        }
        Some(Denial::MainLoopOnly) => ways.push("the same call made by the main loop".into()),
        Some(Denial::Unanswerable) => {
            ways.push(
                "the same question after a prompt of yours, which shows that you are here".into(),
            );
        }
        None => {}
    }
    ways
}
