//! `log`: prints the project's log for people: decisions, boundaries and faults of all sessions.

mod entry;
mod follow;

use std::collections::VecDeque;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::Context as _;

use self::entry::Entry;
use super::{Context, Exit, Run, selector};
use crate::cli::LogArgs;
use base::atomic;
use base::clock::Time;
use base::paths::Places;
use guard::files::boundary;

/// Number of lines to show by default.
const LAST: usize = 20;

/// Which lines to show.
struct Filter<'a> {
    places: &'a Places,
    session: Option<&'a str>,
    kinds: &'a [String],
    since: Option<Time>,
}

impl Filter<'_> {
    fn takes(&self, entry: &Entry) -> bool {
        let kind = self.kinds.is_empty() || self.kinds.contains(&entry.kind);
        let recent = self.since.is_none_or(|since| entry.at >= since);
        kind && recent && self.session.is_none_or(|session| self.of(entry, session))
    }

    /// A boundary's line names only its token, and belongs to both of its sessions.
    fn of(&self, entry: &Entry, session: &str) -> bool {
        if entry.names(session) {
            return true;
        }
        let token = entry.token().and_then(|id| boundary::load(self.places, id).ok().flatten());
        token.is_some_and(|t| t.parent == session || t.child.as_deref() == Some(session))
    }
}

/// How to show a line.
#[derive(Debug, Clone, Copy)]
struct Look {
    json: bool,
    colour: bool,
    project: bool,
}

impl Run for LogArgs {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        print(self, context)
    }
}

fn print(args: &LogArgs, Context { env, now }: Context) -> anyhow::Result<Exit> {
    let project = selector::project(env, &args.selector)?;
    let places = selector::places(env, &project)?;
    let named = args.selector.session.as_ref();
    let found = named.map(|_| selector::find(env, &args.selector)).transpose()?;
    let session = found.as_ref().map(|found| found.session.as_str());
    let since = args.since.as_deref().map(super::operator_override::duration).transpose()?;
    let since = since.map(|since| now - since);
    let filter = Filter { places: &places, session, kinds: &args.kind, since };
    let plain = env.get("NO_COLOR").is_some_and(|v| !v.is_empty());
    let look =
        Look { json: args.json, colour: !plain && io::stdout().is_terminal(), project: args.all };
    let logs = if args.all { all_logs(&places) } else { vec![places.log()] };
    // Where each log ended: `--follow` continues there, so that no line is shown twice.
    let mut ends = Vec::new();
    let wanted = args.last.unwrap_or(if args.since.is_some() { usize::MAX } else { LAST });
    let mut shown: Vec<(String, Entry)> = Vec::new();
    for log in &logs {
        let project = entry::project_of(log);
        let (entries, end) = entries(log, &filter, wanted)?;
        shown.extend(entries.into_iter().map(|entry| (project.clone(), entry)));
        ends.push(end);
    }
    shown.sort_by_key(|(_, entry)| entry.at);
    for (project, entry) in &shown[shown.len().saturating_sub(wanted)..] {
        if write(look, project, entry).is_err() {
            return Ok(Exit::Done);
        }
    }
    if args.follow {
        follow::lines(&logs, &ends, |log, line| {
            let Some(entry) = Entry::of(line).filter(|e| filter.takes(e)) else { return Ok(()) };
            write(look, &entry::project_of(log), &entry)
        });
    } else if shown.is_empty() && !args.json {
        super::err("no log entry matches; `brain-guard log` without options shows the last ones");
    }
    Ok(Exit::Done)
}

fn write(look: Look, project: &str, entry: &Entry) -> io::Result<()> {
    let line = if look.json {
        entry.raw.clone()
    } else {
        let project = if look.project { format!("{project}  ") } else { String::new() };
        format!("{project}{}", entry.text(look.colour))
    };
    writeln!(io::stdout().lock(), "{line}")
}

/// The logs of all projects.
fn all_logs(places: &Places) -> Vec<PathBuf> {
    let Some(folder) = places.state.parent() else { return vec![places.log()] };
    let projects = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut logs: Vec<PathBuf> =
        projects.map(|entry| entry.path().join("log.jsonl")).filter(|log| log.is_file()).collect();
    logs.sort();
    logs
}

/// The last entries that the filter takes, from a log and its rotated part, and where the log
/// ended.
fn entries(
    log: &std::path::Path,
    filter: &Filter,
    last: usize,
) -> anyhow::Result<(VecDeque<Entry>, follow::End)> {
    let unread = || format!("could not read {}", log.display());
    let older = atomic::read_text(&log.with_extension("1.jsonl")).with_context(unread)?;
    let end = follow::End::of(log);
    let newer = end.text().with_context(unread)?;
    let mut taken = VecDeque::new();
    for text in [older.unwrap_or_default(), newer] {
        for entry in text.lines().filter_map(Entry::of) {
            if filter.takes(&entry) {
                taken.push_back(entry);
            }
            if taken.len() > last {
                taken.pop_front();
            }
        }
    }
    Ok((taken, end))
}
