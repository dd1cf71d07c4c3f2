//! Explains one line of the journal, and what would have let a call through.

use std::fmt::{self, Write as _};

use serde::Serialize;

use base::clock::Time;
use base::shown::group_thousands;
use guard::files::journal::{Called, Crossed, Line, Verdict, What};
use guard::hook::facts::Facts;
use guard::policy::coach::figure_in_full;

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
        let mut lines = self.line.said.lines();
        let first = lines.next().unwrap_or_default();
        let more = if lines.next().is_some() { " […]" } else { "" };
        self.in_words(&format!("{first}{more}"))
    }

    fn in_words(&self, said: &str) -> String {
        let line = &self.line;
        let mut out = format!("{} at {}", self.head, line.at.format("%Y-%m-%d %H:%M:%S UTC"));
        let mut add = |name: &str, value: &str| {
            let value = value.trim_end().replace('\n', "\n              ");
            let _ = write!(out, "\n  {name:<11} {value}");
        };
        if let What::Call(call) = &line.what {
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
            add("capped", cap);
        }
        for way in &self.let_through {
            add("would pass", way);
        }
        if !said.is_empty() {
            add("said", said);
        }
        if !line.told.is_empty() {
            add("told user", &line.told);
        }
        out
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(&self.line.said))
    }
}

fn head(line: &Line) -> String {
    match &line.what {
        What::Call(call) => {
            let by = if call.subagent { " of a subagent" } else { "" };
            format!("{}{by} ({}), {},", call.tool, call.id, came_of(call.verdict))
        }
        What::Note(event) if line.said.is_empty() => format!("word to the user ({event})"),
        What::Note(event) => {
            format!("note ({event}, {} bytes)", group_thousands(line.said.len() as u64))
        }
        What::Stop(Verdict::WouldDeny) => "turn's end, would have been refused,".to_owned(),
        What::Stop(_) => "turn's end refused".to_owned(),
        What::Cut(cut) => format!(
            "output of {} ({}) cut from {} to {} characters, whole in {},",
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
        What::Boundary(crossed) => stepped(crossed),
        What::Delivered(bytes) => format!("delivered {} bytes", group_thousands(*bytes)),
        What::Compacted => "compacted by the client".to_owned(),
        What::Override(said) => format!("{said},"),
    }
}

fn stepped(crossed: &Crossed) -> String {
    let Crossed { token, step, carrier, job, why } = crossed;
    let why = why.as_deref().map_or_else(String::new, |why| format!(": {why}"));
    let step = format!("{step:?}").to_lowercase();
    format!("boundary {token} of {job} {step} by {}{why},", carrier.name())
}

fn came_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "passed",
        Verdict::Allow => "allowed",
        Verdict::Partial => "read in part",
        Verdict::Deny => "blocked",
        Verdict::WouldDeny => "would have been blocked (shadow mode)",
    }
}

fn because(call: &Called, line: &Line) -> String {
    let not_own = call.not_own.as_ref();
    let not_own = not_own.map(|why| format!("; it doesn't count as a brain-guard command: {why}"));
    let not_own = not_own.unwrap_or_default();
    match call.why.as_deref() {
        Some("tier") => format!("the tier {} blocks the band {}{not_own}", line.tier, call.band),
        Some("sealed") => {
            format!("the notes are sealed, and the boundary waits for the turn's end{not_own}")
        }
        Some("operator") => "it is the operator's: the override, the settings, the state".into(),
        Some("main-loop-only") => {
            "a subagent may not close or seal, nor move phases and jobs".into()
        }
        Some(other) => other.to_owned(),
        None => match (call.verdict, &line.cap) {
            (Verdict::Allow, _) => {
                "it is about the notes or a saved output, or a command of brain-guard".into()
            }
            (Verdict::Partial, _) => "this session has read or edited the file before".into(),
            (_, Some(cap)) => format!("nothing is blocked: {cap}"),
            _ => format!("the band {} is not blocked there", call.band),
        },
    }
}

/// What would have let a call through that was denied, or that shadow mode would have denied.
fn let_through(facts: &Facts, line: &Line) -> Vec<String> {
    let What::Call(call) = &line.what else { return Vec::new() };
    let mut ways = Vec::new();
    match call.why.as_deref() {
        Some("tier") => {
            ways.extend(call.passes.iter().cloned());
            let live = facts.places.compaction(&facts.session.job);
            ways.push(format!("Read, Edit or Write of {}", live.display()));
            ways.push(
                "a command of nothing but `brain-guard append|close|seal|status|explain|steering|phase|job`, joined by && or ;".into(),
            );
            ways.push(OVERRIDE.into());
        }
        Some("sealed") => {
            ways.push("the turn's end: the work goes on in the fresh session".into());
            ways.push(OVERRIDE.into());
        }
        Some("operator") => ways.push("nothing: a person may do it outside the session".into()),
        Some("main-loop-only") => ways.push("the same call made by the main loop".into()),
        _ => {}
    }
    ways
}
