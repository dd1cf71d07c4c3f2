//! `log`: prints the project's log for people: decisions, boundaries and faults of all sessions.

mod entry;
mod follow;

use std::collections::VecDeque;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use self::entry::Entry;
use super::{Context, Exit, Run, selector};
use crate::cli::LogArgs;
use base::atomic;
use base::clock::Time;
use base::paths::Places;
use base::plain::EscapedJson;
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
        kind && recent && self.session.is_none_or(|session| self.concerns(entry, session))
    }

    /// A boundary's line names only its token, and belongs to both of its sessions.
    fn concerns(&self, entry: &Entry, session: &str) -> bool {
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
    with_project: bool,
}

impl Run for LogArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        let places = selector::places(env, &selector::project(env, &self.selector)?)?;
        let named = self.selector.session.is_some();
        let found = named.then(|| selector::find(env, &self.selector)).transpose()?;
        let age = self.since.as_deref().map(super::operator_override::duration).transpose()?;
        let filter = Filter {
            places: &places,
            session: found.as_ref().map(|found| found.session.as_str()),
            kinds: &self.kind,
            since: age.map(|age| now - age),
        };
        let plain = env.get("NO_COLOR").is_some_and(|v| !v.is_empty());
        let look = Look {
            json: self.json,
            colour: !plain && io::stdout().is_terminal(),
            with_project: self.all,
        };
        let logs = if self.all { all_logs(&places) } else { vec![places.log()] };
        let last = self.last.unwrap_or(if self.since.is_some() { usize::MAX } else { LAST });

        let (shown, ends) = last_of_all(&logs, &filter, last)?;
        for (project, entry) in &shown {
            // Whoever reads the output is gone.
            if write(look, project, entry).is_err() {
                return Ok(Exit::Done);
            }
        }
        if self.follow {
            follow::lines(&logs, &ends, |log, line| {
                let Some(entry) = Entry::of(line).filter(|e| filter.takes(e)) else {
                    return Ok(());
                };
                write(look, &entry::project_of(log), &entry)
            });
        } else if shown.is_empty() && !self.json {
            super::err(
                "no log entry matches; `brain-guard log` without options shows the last ones",
            );
        }
        Ok(Exit::Done)
    }
}

/// The logs of all projects.
fn all_logs(places: &Places) -> Vec<PathBuf> {
    let logs = places.all_states().into_iter().map(|state| state.join("log.jsonl"));
    let mut logs: Vec<PathBuf> = logs.filter(|log| log.is_file()).collect();
    logs.sort();
    logs
}

/// An entry with the project whose log it is in.
type Located = (String, Entry);

/// The last entries of several logs, by time, each with its project. Also where each log ended:
/// `--follow` continues there, so that no line is shown twice.
fn last_of_all(
    logs: &[PathBuf],
    filter: &Filter,
    last: usize,
) -> anyhow::Result<(Vec<Located>, Vec<follow::End>)> {
    let (mut all, mut ends) = (Vec::new(), Vec::new());
    for log in logs {
        let project = entry::project_of(log);
        let (entries, end) = last_of(log, filter, last)?;
        all.extend(entries.into_iter().map(|entry| (project.clone(), entry)));
        ends.push(end);
    }
    all.sort_by_key(|(_, entry)| entry.at);
    all.drain(..all.len().saturating_sub(last));
    Ok((all, ends))
}

/// The last entries of one log with its rotated part, and where the log ended.
fn last_of(
    log: &Path,
    filter: &Filter,
    last: usize,
) -> anyhow::Result<(VecDeque<Entry>, follow::End)> {
    let unread = || format!("could not read {}", log.display());
    let older = atomic::read_text(&log.with_extension("1.jsonl")).with_context(unread)?;
    let end = follow::End::of(log);
    let newer = end.text().with_context(unread)?;
    let mut taken = VecDeque::new();
    for text in [older.unwrap_or_default(), newer] {
        for entry in text.lines().filter_map(Entry::of).filter(|entry| filter.takes(entry)) {
            taken.push_back(entry);
            if taken.len() > last {
                taken.pop_front();
            }
        }
    }
    Ok((taken, end))
}

fn write(look: Look, project: &str, entry: &Entry) -> io::Result<()> {
    if look.json {
        return writeln!(EscapedJson(io::stdout().lock()), "{}", entry.raw);
    }
    let project = if look.with_project { format!("{project}  ") } else { String::new() };
    writeln!(io::stdout().lock(), "{project}{}", entry.text(look.colour))
}
