//! Adds the commits that a shell call made to the job's list and its compaction file. Most calls
//! make none and cost a few checks of file times. Git runs only after a commit.

mod take;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::event::{Event, ToolCall};
use super::facts::Facts;
use super::target::absolute;
use crate::files::commits::{self, Background, Waiting, Watch};
use crate::files::git::{self, GitCommit};
use crate::files::neighbours;
use crate::files::repository::{self, Mark, Repository};
use crate::git::{Call, Change, Entry, Evidence, add, find_evidence, folders, reports};
use base::clock::Time;

/// The most unassigned commits to remember.
const MOST_WAITING: usize = 64;

/// The most background calls to remember.
const MOST_BACKGROUND: usize = 16;

/// The most commits to add at once.
const MOST_TAKEN: usize = 500;

/// The most reported commits to look up by hash. Each costs a process.
const MOST_REPORTED: usize = 4;

/// Adds the commits that a shell call of this session or its subagents made. `true` if the job's
/// list changed.
pub fn after_call(
    facts: &Facts,
    event: &Event,
    call: &ToolCall,
    command: &str,
    output: Option<&RawValue>,
) -> bool {
    if facts.session.job.is_empty() {
        return false;
    }
    let mut around = Around::new(facts, event.cwd.map(Path::new));
    for folder in folders(command) {
        around.add(&absolute(event, folder));
    }
    let took = call.took.and_then(|took| chrono::TimeDelta::try_milliseconds(took as i64));
    let began = took.and_then(|took| facts.now.checked_sub_signed(took));
    let background = output.is_some_and(|o| o.get().contains("\"backgroundTaskId\"")).then(|| {
        let began = began.unwrap_or(facts.now);
        Background { command: command.to_owned(), began, cwd: event.cwd.map(PathBuf::from) }
    });
    let turn = || facts.session.turn.or(facts.session.started).unwrap_or(facts.now);
    let seen = Seen {
        command,
        began: began.unwrap_or_else(turn),
        measured: began.is_some(),
        output: output.map(RawValue::get),
        error: call.error,
    };
    add_commits(facts, &around, &seen, |watch| {
        watch.background.extend(background.clone());
        let over = watch.background.len().saturating_sub(MOST_BACKGROUND);
        watch.background.drain(..over);
        background.is_some()
    })
}

/// Adds the commits of background calls at a turn's end, and then forgets calls that are not in
/// `running`. `true` if the job's list changed.
pub fn at_turn_end(facts: &Facts, running: &[&str]) -> bool {
    let known = commits::load_watch(&facts.places, facts.id);
    if known.background.is_empty() {
        return false;
    }
    let mut around = Around::new(facts, facts.session.cwd.as_deref().map(Path::new));
    for folder in known.background.iter().filter_map(|b| b.cwd.as_deref()) {
        around.add(folder);
    }
    let seen = Seen { command: "", began: facts.now, measured: false, output: None, error: None };
    add_commits(facts, &around, &seen, |watch| {
        let before = watch.background.len();
        watch.background.retain(|b| running.contains(&b.command.as_str()));
        watch.background.len() != before
    })
}

/// The repositories that a call may have committed to.
struct Around {
    repositories: BTreeSet<Repository>,
}

impl Around {
    fn new(facts: &Facts, cwd: Option<&Path>) -> Self {
        let mut around = Self { repositories: BTreeSet::new() };
        around.add(&facts.places.project);
        if let Some(cwd) = cwd.filter(|cwd| *cwd != facts.places.project) {
            around.add(cwd);
        }
        around
    }

    fn add(&mut self, folder: &Path) {
        self.repositories.extend(repository::find(folder));
    }

    /// The working trees, grouped by their common Git directory.
    fn trees(&self) -> BTreeMap<PathBuf, Vec<(PathBuf, Mark)>> {
        self.repositories.iter().map(|r| (r.common.clone(), r.trees())).collect()
    }
}

/// A shell call as the event reports it.
struct Seen<'a> {
    command: &'a str,
    began: Time,
    measured: bool,
    output: Option<&'a str>,
    error: Option<&'a str>,
}

impl Seen<'_> {
    /// The lines of its output that report commits.
    fn reports(&self) -> String {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Output {
            stdout: String,
            stderr: String,
        }
        let output = self.output.and_then(|o| serde_json::from_str::<Output>(o).ok());
        let text = match (self.error, output) {
            (Some(error), _) => error.to_owned(),
            (None, Some(o)) => format!("{}\n{}", o.stdout, o.stderr),
            (None, None) => String::new(),
        };
        let lines = text.lines().filter(|line| line.trim_start().starts_with('['));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Checks the repositories and adds the session's commits. `change` updates the background calls
/// and returns whether it changed them.
fn add_commits(
    facts: &Facts,
    around: &Around,
    seen: &Seen,
    change: impl Fn(&mut Watch) -> bool,
) -> bool {
    try_add_commits(facts, around, seen, change).unwrap_or_else(|e| {
        facts.fault("commits not taken over", &e);
        false
    })
}

fn try_add_commits(
    facts: &Facts,
    around: &Around,
    seen: &Seen,
    change: impl Fn(&mut Watch) -> bool,
) -> io::Result<bool> {
    let trees = around.trees();
    let known = commits::load_watch(&facts.places, facts.id);
    if !change(&mut known.clone()) && trees.values().all(|trees| is_still(trees, &known, seen)) {
        return Ok(false);
    }
    let _held = commits::lock_watch(&facts.places, facts.id)?;
    // Another hook of this session may have checked in the meantime.
    let mut watch = commits::load_watch(&facts.places, facts.id);
    let mut changes = Vec::new();
    let mut failed = Ok(());
    for (common, trees) in &trees {
        if is_still(trees, &watch, seen) {
            continue;
        }
        match of_repository(facts, common, trees, seen, &mut watch) {
            Ok(found) => changes.extend(found),
            Err(e) => failed = Err(e),
        }
        // Saved even if Git failed, so that not every call runs Git again.
        watch.trees.extend(trees.iter().cloned());
        watch.looked = Some(facts.now);
    }
    let over = watch.waiting.len().saturating_sub(MOST_WAITING);
    watch.waiting.drain(..over);
    change(&mut watch);
    let result = take::take(facts, changes);
    if watch != known {
        commits::save_watch(&facts.places, facts.id, &watch)?;
    }
    failed.and(result)
}

/// Whether nothing was committed in these trees since the last check, or since the call began if
/// there was none. A check during the call does not count, because it may already have seen the
/// call's commits.
fn is_still(trees: &[(PathBuf, Mark)], watch: &Watch, seen: &Seen) -> bool {
    let still = |(own, mark): &(PathBuf, Mark)| match watch.trees.get(own) {
        Some(known) => known == mark,
        None => mark.modified / 1_000_000_000 < seen.began.timestamp(),
    };
    let within = seen.measured && watch.looked.is_some_and(|at| at >= seen.began);
    !within && trees.iter().all(still)
}

/// Finds the changes of one repository for the job's list.
fn of_repository(
    facts: &Facts,
    common: &Path,
    trees: &[(PathBuf, Mark)],
    seen: &Seen,
    watch: &mut Watch,
) -> io::Result<Vec<Change>> {
    let heads: Vec<String> =
        trees.iter().filter_map(|(own, _)| repository::detached(own)).collect();
    let output = seen.reports();
    let call = |began: Time, command, output, measured| Call {
        command,
        output,
        began: began.timestamp(),
        ended: facts.now.timestamp(),
        measured,
    };
    let background =
        watch.background.iter().map(|b| (b.began, call(b.began, &*b.command, "", false)));
    let calls: Vec<(Time, Call)> =
        std::iter::once((seen.began, call(seen.began, seen.command, &*output, seen.measured)))
            .chain(background)
            .collect();
    let earliest = calls.iter().map(|(_, call)| call.earliest()).min().unwrap_or_default();
    let mut found = git::commits_since(common, &heads, earliest)?;
    let reported = reports(&output).take(MOST_REPORTED);
    let missing: Vec<&str> =
        reported.filter(|short| found.iter().all(|made| !made.hash.starts_with(short))).collect();
    // These are from another time or another repository.
    found.extend(
        missing.iter().flat_map(|short| git::find_commit(common, short).unwrap_or_default()),
    );

    let entries = commits::list(&facts.places, &facts.session.job).unwrap_or_default();
    let others = OnceCell::new();
    let mut taken: Vec<(GitCommit, bool)> = Vec::new();
    for made in found {
        if entries.iter().any(|entry| entry.hash == made.hash) {
            continue;
        }
        let first = watch.waiting.iter().find(|waiting| waiting.hash == made.hash).map(|w| w.seen);
        let rival = || {
            let others = others
                .get_or_init(|| neighbours::at_work(&facts.places, facts.id, facts.session.client));
            others.iter().any(|other| {
                other.since.is_none_or(|since| since.timestamp() <= made.at)
                    && other.repository.as_ref().is_some_and(|r| r.common == *common)
            })
        };
        let mut running =
            calls.iter().filter(|(began, _)| first.is_none_or(|first| *began <= first));
        match running.find_map(|(_, call)| find_evidence(&made.hash, made.at, call, rival)) {
            Some(evidence) => taken.push((made, evidence == Evidence::Shown)),
            None if first.is_none() => {
                watch.waiting.push(Waiting { hash: made.hash, seen: facts.now });
            }
            None => {}
        }
    }
    let over = taken.len().saturating_sub(MOST_TAKEN);
    if over > 0 {
        facts.fault("commits left out", &format!("{over} more than {MOST_TAKEN} at once"));
        taken.drain(..over);
    }
    watch.waiting.retain(|waiting| taken.iter().all(|(made, _)| made.hash != waiting.hash));
    let hashes: Vec<(&str, bool)> = taken.iter().map(|(made, sure)| (&*made.hash, *sure)).collect();
    let claimed = commits::claim(&facts.places, common, facts.id, &hashes)?;
    let tree = tree_of(trees, watch).display().to_string();
    let entry = |made: &GitCommit| Entry {
        hash: made.hash.clone(),
        subject: made.subject.clone(),
        body: made.body.clone(),
        session: facts.id.to_owned(),
        at: chrono::DateTime::from_timestamp(made.at, 0),
        worktree: tree.clone(),
        gone: false,
    };
    let new = taken.iter().filter(|(made, _)| claimed.contains(&&*made.hash));
    let mut changes: Vec<Change> = new.map(|(made, _)| add(entry(made))).collect();
    // New commits count even if this fails, because they are not looked up again.
    changes.extend(dropped(common, &heads, &entries).unwrap_or_else(|e| {
        facts.fault("dropped commits not looked up", &e);
        Vec::new()
    }));
    Ok(changes)
}

/// Finds listed commits that became unreachable by a rebase or reset, and those that are reachable
/// again.
fn dropped(common: &Path, heads: &[String], entries: &[Entry]) -> io::Result<Vec<Change>> {
    let trees: BTreeSet<&str> = entries.iter().map(|entry| &*entry.worktree).collect();
    let is_here =
        |tree: &&str| repository::find(Path::new(tree)).is_some_and(|r| r.common == common);
    let trees: BTreeSet<&str> = trees.into_iter().filter(is_here).collect();
    let here: Vec<&Entry> = entries.iter().filter(|e| trees.contains(&*e.worktree)).collect();
    if here.is_empty() {
        return Ok(Vec::new());
    }
    let known: Vec<&str> = here.iter().map(|entry| &*entry.hash).collect();
    let lost = git::unreachable_commits(common, heads, &known)?;
    let gone: Vec<&str> = here.iter().filter(|e| e.gone).map(|e| &*e.hash).collect();
    // Git may have deleted a commit for good. Then it is not reachable either.
    let there =
        if gone.is_empty() { BTreeSet::new() } else { git::existing_commits(common, &gone)? };
    let change = |entry: &&Entry| match (entry.gone, lost.contains(&entry.hash)) {
        (false, true) => Some(Change::Drop(entry.hash.clone())),
        (true, false) if there.contains(&entry.hash) => Some(Change::Restore(entry.hash.clone())),
        _ => None,
    };
    Ok(here.iter().filter_map(change).collect())
}

/// The working tree with a commit since the last check.
fn tree_of(trees: &[(PathBuf, Mark)], watch: &Watch) -> PathBuf {
    let moved = trees.iter().filter(|(own, mark)| watch.trees.get(own) != Some(mark));
    let last = moved.max_by_key(|(_, mark)| mark.modified).or(trees.first());
    last.map(|(own, _)| repository::worktree(own)).unwrap_or_default()
}
