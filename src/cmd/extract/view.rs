//! The output of the extraction verbs.

mod json;

use std::fmt;
use std::path::Path;

use super::planned::{Done, Planned};
use super::preview::Preview;
use super::source::{Kind, Source};
use crate::cmd::import::count;
use crate::cmd::surgery::view::context;
use base::clock::Time;
use base::shown::breaks_even;
use base::shown::group_thousands;
use base::shown::size;
use extract::entry::Role;
use extract::plan::Plan;
use extract::rules::{Goes, Stays};
use extract::when::Verdict;
use sessions::cost::Cost;

/// The most entries in a table; the rest is counted.
pub const SHOWN: usize = 200;

/// A session and its place.
pub struct Place<'a> {
    pub kind: Kind,
    pub agent: &'a str,
    pub session: &'a str,
    /// Its file; for a database, `FILE:ID`.
    pub file: &'a Path,
}

impl Place<'_> {
    /// The session on one line, its size on another.
    pub fn headline(&self, entries: u64, messages: u64) -> String {
        let kind = match self.kind {
            Kind::Jsonl => "a file of pi or OpenClaw",
            Kind::Database => "in a database of OpenClaw",
            Kind::Claude => "Claude Code's",
        };
        format!(
            "{} ({}), {kind}: {}\n{} entries, {} of them messages",
            self.session,
            self.agent,
            self.file.display(),
            group_thousands(entries),
            group_thousands(messages)
        )
    }
}

fn headline(source: &Source, entries: u64, messages: u64) -> String {
    let file = source.place();
    let (agent, session) = (source.agent.as_str(), source.session.as_str());
    Place { kind: source.kind, agent, session, file: &file }.headline(entries, messages)
}

/// What would be extracted.
pub struct PlanReport<'a> {
    pub source: &'a Source,
    pub planned: &'a Planned,
    /// The start of each value.
    pub preview: &'a Preview,
    pub cost: Cost,
    /// `watch` would skip it as too small.
    pub little: bool,
    pub now: Time,
}

impl fmt::Display for PlanReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, planned, preview, cost, little, now } = self;
        let plan = &planned.plan;
        let mut lines = vec![headline(source, plan.entries, plan.messages), String::new()];
        if !plan.items.is_empty() {
            lines.extend(table(planned, preview));
            if plan.items.len() > SHOWN {
                lines.push(format!("and {} more; --json has all", plan.items.len() - SHOWN));
            }
            lines.push(String::new());
        }
        let stay: Vec<String> = plan
            .stay
            .iter()
            .map(|(why, number)| format!("{} {}", group_thousands(*number), stays(*why)))
            .collect();
        if !stay.is_empty() {
            lines.push(format!("stay: {}", stay.join(", ")));
        }
        lines.extend(left(plan));
        if plan.items.is_empty() {
            let without_ids = "nothing to extract: no row has an id. pi gives ids to a session of its first format when it opens it";
            let is_first_format = plan.entries == 0 && source.kind == Kind::Jsonl;
            let why = if is_first_format { without_ids } else { "nothing to extract" };
            lines.push(why.to_owned());
            return f.write_str(&lines.join("\n"));
        }
        let (bytes, sent) = plan.bytes();
        lines.push(format!(
            "can be extracted: {} in {}, {}; {} of that is in the context, about {} of the {} tokens after the first change",
            count(plan.items.len(), "value"),
            of_entries(entries(planned)),
            size(bytes),
            size(sent),
            group_thousands(planned.look.saved),
            group_thousands(planned.look.behind),
        ));
        for (why, said) in [
            (Goes::Again, "because a later message repeats them"),
            (Goes::Reread, "because their files were read again later"),
            (Goes::Stale, "because their files were written anew later"),
        ] {
            let number = plan.items.iter().filter(|item| item.why == why).count();
            if number > 0 {
                lines.push(format!(
                    "of these, {} that recent messages hold, {said}",
                    count(number, "value")
                ));
            }
        }
        lines.push(format!("context: {}", context(cost)));
        lines.push(break_even_text(planned, cost, *now));
        if *little {
            lines.push(format!(
                "`extract watch` would wait: {} bytes are too little to write the file anew",
                group_thousands(planned.look.bytes)
            ));
        }
        f.write_str(&lines.join("\n"))
    }
}

/// Faulty rows that are skipped, one line per kind of fault.
fn left(plan: &Plan) -> Vec<String> {
    let line = |(why, rows): (&Stays, &Vec<u64>)| {
        let what = match why {
            Stays::Broken => "not valid JSON",
            Stays::Unclear => "`_extractable` is neither true, false nor a number of messages",
            Stays::Shared => "another row has the same id",
            _ => "a name stands twice where it has values",
        };
        let mut lines: Vec<String> = rows.iter().take(9).map(|row| (row + 1).to_string()).collect();
        if rows.len() > lines.len() {
            lines.push(format!("and {} more", rows.len() - lines.len()));
        }
        let word = if rows.len() == 1 { "line" } else { "lines" };
        format!("skipped: {what}, {word} {}", lines.join(", "))
    };
    plan.left.iter().map(line).collect()
}

/// `1 entry`, `2 entries`.
pub fn of_entries(number: usize) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}

fn entries(planned: &Planned) -> usize {
    planned.plan.items.chunk_by(|a, b| a.row == b.row).count()
}

/// The values to extract, as a table.
fn table(planned: &Planned, preview: &Preview) -> Vec<String> {
    let head = ["line", "entry", "from", "key", "size", "context", "preview"].map(str::to_owned);
    let mut rows = vec![head];
    for (item, begin) in planned.plan.items.iter().zip(&preview.begins).take(SHOWN) {
        let entry = planned.read.entry(item.row);
        rows.push([
            (item.row + 1).to_string(),
            item.entry.clone(),
            item.tool.as_deref().unwrap_or_else(|| role(entry.map(|entry| entry.role))).to_owned(),
            item.key.to_string(),
            size((item.span.end - item.span.start) as u64),
            if item.sent { "yes" } else { "no" }.to_owned(),
            begin.clone(),
        ]);
    }
    let width = |n: usize| rows.iter().map(|row| row[n].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}  {}", cells.collect::<Vec<_>>().join("  "), row[6]).trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn role(role: Option<Role>) -> &'static str {
    match role {
        Some(Role::User) => "user",
        Some(Role::Assistant) => "assistant",
        Some(Role::Tool) => "tool",
        Some(Role::None) | None => "-",
    }
}

/// Why values stay; follows their number.
fn stays(why: Stays) -> &'static str {
    match why {
        Stays::Recent => "among the recent messages",
        Stays::Short => "too short",
        Stays::Type => "of a type that stays",
        Stays::Said => "whose entry says so (_extractable)",
        Stays::Unclear => "whose entry says something unclear (_extractable)",
        Stays::Broken => "in rows that are not valid JSON",
        Stays::Twice => "below names that stand twice",
        Stays::Shared => "in rows whose id another row has",
        Stays::Restored => "restored not long ago",
        Stays::Tool => "of protected tools",
        Stays::First => "in the user's first message",
        Stays::Turn => "in the agent's last turns",
        Stays::Error => "errors",
        Stays::Placeholder => "extracted already",
        Stays::NoGain => "no longer than their placeholder",
        Stays::Away => "no longer in the context, which the new session is made of",
    }
}

/// When the extraction breaks even.
fn break_even_text(planned: &Planned, cost: &Cost, now: Time) -> String {
    let requests = cost.pays_after().map_or_else(|| "saves no tokens".to_owned(), breaks_even);
    let ago = planned.look.last.map(|last| now - last);
    let age = ago.map_or_else(String::new, |age| {
        let seconds = age.num_seconds().max(0);
        match seconds {
            0..120 => format!(" (the last row is {seconds} s old)"),
            120..7_200 => format!(" (the last row is {} min old)", seconds / 60),
            _ => format!(" (the last row is {} h old)", seconds / 3_600),
        }
    });
    match planned.verdict {
        Verdict::Nothing => {
            "none of these values is in the context: only the file gets smaller".to_owned()
        }
        Verdict::Cold | Verdict::Interval | Verdict::Little if planned.cold => {
            format!("the prompt cache has expired{age}, so it saves at once")
        }
        _ => format!("the prompt cache may still be used{age}: it {requests}"),
    }
}

/// What was extracted.
pub struct DoneReport<'a> {
    pub source: &'a Source,
    pub done: &'a Done,
    pub plan: &'a Plan,
}

impl fmt::Display for DoneReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&done(self.source, self.done))?;
        left(self.plan).iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}

/// What was extracted, as text.
fn done(source: &Source, done: &Done) -> String {
    if done.values == 0 {
        return format!("nothing to extract in {}; it is as it was", source.session);
    }
    let redacted = match done.redacted {
        0 => String::new(),
        rows => format!("; calls for a restore are redacted in {}", count(rows as usize, "row")),
    };
    format!(
        "extracted {} of {} ({}) from {}, which got {} shorter{redacted}\nback with: brain-guard extract restore {} ENTRY (extract context lists them)",
        count(done.values as usize, "value"),
        of_entries(done.entries as usize),
        size(done.bytes),
        source.place().display(),
        size(done.freed),
        source.session,
    )
}
