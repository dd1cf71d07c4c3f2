//! After a shell call: the commits it made come into the job's list and from there into the
//! compaction file. Most calls make none, and cost a few looks at the reflogs' times.

mod judge;
mod take;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::event::{Event, ToolCall};
use super::facts::Facts;
use super::target::absolute;
use crate::files::commits::{self, Background, Waiting, Watch};
use crate::files::repository::{self, Mark, Repository};
use crate::git::{Line, folders};
use base::clock::Time;

/// How long a line waits for a call that is still running, in seconds.
const WAITS_SECONDS: i64 = 3 * 60 * 60;

/// The most lines that wait.
const MOST_WAITING: usize = 64;

/// The most background calls that are remembered.
const MOST_BACKGROUND: usize = 16;

/// Takes over the commits that a shell call of the session made, its agents' included;
/// `true` if that changed the job's list.
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
        around.goes_to(&absolute(event, folder));
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
    look(facts, &around, &seen, |watch| {
        watch.background.extend(background.clone());
        let over = watch.background.len().saturating_sub(MOST_BACKGROUND);
        watch.background.drain(..over);
        background.is_some()
    })
}

/// At a turn's end: what calls in the background have committed; those that have ended
/// (`running` are the others' commands) are forgotten after that. `true` if that changed
/// the job's list.
pub fn at_turn_end(facts: &Facts, running: &[&str]) -> bool {
    let known = commits::watch(&facts.places, facts.id);
    if known.background.is_empty() {
        return false;
    }
    let mut around = Around::new(facts, facts.session.cwd.as_deref().map(Path::new));
    for folder in known.background.iter().filter_map(|b| b.cwd.as_deref()) {
        around.add(folder);
    }
    let seen = Seen { command: "", began: facts.now, measured: false, output: None, error: None };
    look(facts, &around, &seen, |watch| {
        let before = watch.background.len();
        watch.background.retain(|b| running.contains(&b.command.as_str()));
        watch.background.len() != before
    })
}

/// The repositories around a call.
struct Around {
    repositories: BTreeSet<Repository>,
    /// The working trees the call went to.
    here: Vec<PathBuf>,
}

impl Around {
    fn new(facts: &Facts, cwd: Option<&Path>) -> Self {
        let mut around = Self { repositories: BTreeSet::new(), here: Vec::new() };
        around.add(&facts.places.project);
        match cwd {
            Some(cwd) if cwd != facts.places.project => around.goes_to(cwd),
            _ => around.here.extend(around.repositories.first().map(|r| r.own.clone())),
        }
        around
    }

    fn add(&mut self, folder: &Path) -> Option<PathBuf> {
        let found = repository::find(folder)?;
        let own = found.own.clone();
        self.repositories.insert(found);
        Some(own)
    }

    fn goes_to(&mut self, folder: &Path) {
        let own = self.add(folder);
        self.here.extend(own);
    }

    fn logs(&self) -> Vec<(PathBuf, Mark)> {
        let mut commons = BTreeSet::new();
        let each = self.repositories.iter().filter(|r| commons.insert(&r.common));
        each.flat_map(Repository::logs).collect()
    }
}

/// The call as the event tells it.
struct Seen<'a> {
    command: &'a str,
    began: Time,
    measured: bool,
    output: Option<&'a str>,
    error: Option<&'a str>,
}

impl Seen<'_> {
    /// What it printed.
    fn text(&self) -> String {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Output {
            stdout: String,
            stderr: String,
        }
        if let Some(error) = self.error {
            return error.to_owned();
        }
        let output = self.output.and_then(|o| serde_json::from_str::<Output>(o).ok());
        output.map(|o| format!("{}\n{}", o.stdout, o.stderr)).unwrap_or_default()
    }
}

/// A line of a reflog that is to be judged.
struct Candidate {
    log: PathBuf,
    line: Line,
    /// When it was seen first; `None` where that is now.
    seen: Option<Time>,
}

/// Looks at the reflogs, and takes over what is the session's. `change` is for the calls in
/// the background and says whether it changed them.
fn look(facts: &Facts, around: &Around, seen: &Seen, change: impl Fn(&mut Watch) -> bool) -> bool {
    try_look(facts, around, seen, change).unwrap_or_else(|e| {
        facts.fault("commits not taken over", &e);
        false
    })
}

fn try_look(
    facts: &Facts,
    around: &Around,
    seen: &Seen,
    change: impl Fn(&mut Watch) -> bool,
) -> io::Result<bool> {
    let logs = around.logs();
    let known = commits::watch(&facts.places, facts.id);
    let same = |watch: &Watch| logs.iter().all(|(log, mark)| watch.logs.get(log) == Some(mark));
    let due = |watch: &Watch| watch.waiting.iter().any(|w| w.seen >= seen.began);
    if !change(&mut known.clone()) && same(&known) && !(seen.measured && due(&known)) {
        return Ok(false);
    }
    let _held = commits::hold(&facts.places, facts.id)?;
    // Another hook of this session may have read further in the meantime.
    let mut watch = commits::watch(&facts.places, facts.id);
    let mut candidates: Vec<Candidate> = watch
        .waiting
        .drain(..)
        .map(|Waiting { log, line, seen }| Candidate { log, line, seen: Some(seen) })
        .collect();
    for (log, mark) in &logs {
        if watch.logs.get(log) == Some(mark) {
            continue;
        }
        let added = repository::added(log, watch.logs.get(log).copied())?;
        if added.cut && watch.logs.contains_key(log) {
            facts.fault("commits left out", &format!("too many lines in {}", log.display()));
        }
        watch.logs.insert(log.clone(), added.mark);
        candidates.extend(added.lines.into_iter().map(|line| Candidate {
            log: log.clone(),
            line,
            seen: None,
        }));
    }
    let taken = judge::judge(facts, around, seen, &watch, &mut candidates);
    let oldest = facts.now.timestamp() - WAITS_SECONDS;
    let oldest = oldest.max(facts.session.started.map_or(oldest, |at| at.timestamp()));
    let waiting = candidates.into_iter().filter(|c| c.line.at >= oldest);
    watch.waiting = waiting
        .map(|Candidate { log, line, seen }| Waiting { log, line, seen: seen.unwrap_or(facts.now) })
        .collect();
    let over = watch.waiting.len().saturating_sub(MOST_WAITING);
    watch.waiting.drain(..over);
    change(&mut watch);
    let result = take::take(facts, taken, &logs);
    if watch != known {
        commits::keep(&facts.places, facts.id, &watch)?;
    }
    result
}
