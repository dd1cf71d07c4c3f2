//! After a shell call: the commits it made come into the job's list and from there into the
//! compaction file. Most calls make none, and cost a few looks at the reflogs' times.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::event::{Event, ToolCall};
use super::facts::Facts;
use super::pre_tool::absolute;
use crate::clock::Time;
use crate::git::{Act, Call, Change, Entry, Evidence, Line, Place, add, folders, ours};
use crate::log;
use crate::store::commits::{self, Background, Waiting, Watch};
use crate::store::git;
use crate::store::neighbours::{self, Neighbour};
use crate::store::repository::{self, Mark, Repository};

/// How long a line waits for a call that is still running, in seconds.
const WAITS_SECONDS: i64 = 3 * 60 * 60;

/// The most lines that wait.
const MOST_WAITING: usize = 64;

/// The most background calls that are remembered.
const MOST_BACKGROUND: usize = 16;

/// The most commits that are taken over at one look.
const MOST_TAKEN: usize = 500;

/// A fast-forward that looks like a cherry-pick brings a commit older than this, in seconds.
const FAST_FORWARD_SECONDS: i64 = 60;

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
    if command.contains("git") {
        for folder in folders(command) {
            around.goes_to(&absolute(event, folder));
        }
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
/// (`running` are the others' commands) are forgotten after that.
pub fn at_turn_end(facts: &Facts, running: &[&str]) {
    let known = commits::watch(&facts.places, facts.id);
    if known.background.is_empty() {
        return;
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
    });
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
    let taken = judge(facts, around, seen, &watch, &mut candidates);
    let oldest = facts.now.timestamp() - WAITS_SECONDS;
    let oldest = oldest.max(facts.session.started.map_or(oldest, |at| at.timestamp()));
    let waiting = candidates.into_iter().filter(|c| c.line.at >= oldest);
    watch.waiting = waiting
        .map(|Candidate { log, line, seen }| Waiting { log, line, seen: seen.unwrap_or(facts.now) })
        .collect();
    let over = watch.waiting.len().saturating_sub(MOST_WAITING);
    watch.waiting.drain(..over);
    change(&mut watch);
    let result = take(facts, taken, &logs);
    if watch != known {
        commits::keep(&facts.places, facts.id, &watch)?;
    }
    result
}

/// Takes this session's lines out of the candidates; what is of no interest goes as well.
fn judge(
    facts: &Facts,
    around: &Around,
    seen: &Seen,
    watch: &Watch,
    candidates: &mut Vec<Candidate>,
) -> Vec<(Candidate, Evidence)> {
    let text = seen.text();
    let ended = facts.now.timestamp();
    let call = Call {
        command: seen.command,
        output: &text,
        began: seen.began.timestamp(),
        ended,
        measured: seen.measured,
    };
    let others = OnceCell::new();
    let mut taken = Vec::new();
    let mut left = Vec::new();
    for candidate in candidates.drain(..) {
        let Candidate { log, line, seen: first } = &candidate;
        if line.act() == Act::Other {
            continue;
        }
        let own = repository::own_of(log);
        let place =
            if around.here.iter().any(|h| h == own) { Place::Here } else { Place::Elsewhere };
        let rival = || {
            let others = others
                .get_or_init(|| neighbours::at_work(&facts.places, facts.id, facts.session.client));
            others.iter().any(|other| rivals(other, own, place, line.at))
        };
        let running = |began: Time| first.is_none_or(|first| began <= first);
        let fresh = first.is_none();
        let mut evidence = (fresh || (call.measured && running(seen.began)))
            .then(|| ours(line, fresh, place, &call, rival))
            .flatten();
        for other in watch.background.iter().filter(|b| running(b.began)) {
            let began = other.began.timestamp();
            let call = Call { command: &other.command, output: "", began, ended, measured: false };
            evidence = evidence.or_else(|| ours(line, fresh, place, &call, rival));
        }
        match evidence {
            Some(evidence) => taken.push((candidate, evidence)),
            None => left.push(candidate),
        }
    }
    *candidates = left;
    taken
}

/// Whether another session may have written a line there.
fn rivals(other: &Neighbour, own: &Path, place: Place, at: i64) -> bool {
    if other.since.is_some_and(|since| since.timestamp() > at) {
        return false;
    }
    let Some(repository) = &other.repository else { return false };
    repository.own == own
        || (place == Place::Elsewhere && repository.common == repository::common(own))
}

/// Brings what this session did into the job's list and its file.
fn take(
    facts: &Facts,
    mut taken: Vec<(Candidate, Evidence)>,
    logs: &[(PathBuf, Mark)],
) -> io::Result<bool> {
    if taken.is_empty() {
        return Ok(false);
    }
    let over = taken.len().saturating_sub(MOST_TAKEN);
    if over > 0 {
        facts.fault("commits left out", &format!("{over} more than {MOST_TAKEN} at once"));
        taken.drain(..over);
    }
    // Several working trees' lines in the order they were written.
    taken.sort_by_key(|(candidate, _)| candidate.line.at);
    let commons: BTreeSet<PathBuf> =
        taken.iter().map(|(c, _)| repository::common(repository::own_of(&c.log))).collect();
    let mut changes = Vec::new();
    for common in commons {
        let of_it = |log: &Path| repository::common(repository::own_of(log)) == common;
        let lines: Vec<_> = taken.iter().filter(|(c, _)| of_it(&c.log)).collect();
        let heads: Vec<Line> = logs
            .iter()
            .filter(|(log, _)| of_it(log))
            .filter_map(|(log, _)| repository::last(log))
            .collect();
        let new = made(facts, &common, &lines)?;
        let gone = dropped(facts, &common, &lines, &heads, &new);
        changes.extend(new.into_iter().chain(gone));
    }
    let count = |which: fn(&Change) -> bool| changes.iter().filter(|c| which(c)).count();
    let details = json!({
        "session": facts.id, "job": facts.session.job,
        "made": count(|c| matches!(c, Change::Add(_))),
        "dropped": count(|c| matches!(c, Change::Drop(_))),
    });
    let places = &facts.places;
    if !commits::change(places, &facts.session.job, changes)? {
        return Ok(false);
    }
    log::write(&places.log(), facts.now, "commits", &details);
    commits::refresh(places, &facts.session.job, &facts.settings)?;
    Ok(true)
}

/// The commits that lines brought, and those they replaced.
fn made(facts: &Facts, common: &Path, lines: &[&(Candidate, Evidence)]) -> io::Result<Vec<Change>> {
    let brings = |line: &Line| matches!(line.act(), Act::Made | Act::Amended | Act::Rewritten);
    let lines: Vec<_> = lines.iter().filter(|(c, _)| brings(&c.line)).collect();
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let hashes: Vec<_> =
        lines.iter().map(|(c, e)| (c.line.new.as_str(), *e == Evidence::Shown)).collect();
    let ours = commits::claim(&facts.places, common, facts.id, &hashes)?;
    let messages = git::messages(common, &ours).unwrap_or_else(|e| {
        facts.fault("messages of commits not read", &e);
        std::collections::BTreeMap::new()
    });
    let mut changes = Vec::new();
    for (Candidate { log, line, .. }, _) in lines {
        let message = messages.get(&line.new);
        let forwarded = line.verb() == "cherry-pick"
            && message.is_some_and(|m| m.at < line.at - FAST_FORWARD_SECONDS);
        if !ours.contains(&line.new.as_str()) || forwarded {
            continue;
        }
        if line.act() == Act::Amended {
            changes.push(Change::Drop(line.old.clone()));
        }
        changes.push(add(Entry {
            hash: line.new.clone(),
            subject: message.map_or_else(|| line.subject().to_owned(), |m| m.subject.clone()),
            body: message.map(|m| m.body.clone()).unwrap_or_default(),
            session: facts.id.to_owned(),
            at: chrono::DateTime::from_timestamp(line.at, 0),
            worktree: repository::worktree(repository::own_of(log)).display().to_string(),
            gone: false,
        }));
    }
    Ok(changes)
}

/// What a rebase or a reset put out of reach, and what a reset brought back.
fn dropped(
    facts: &Facts,
    common: &Path,
    lines: &[&(Candidate, Evidence)],
    heads: &[Line],
    made: &[Change],
) -> Vec<Change> {
    let lines: Vec<&Line> = lines.iter().map(|(c, _)| &c.line).filter(|l| l.drops()).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let branch = |line: &&Line| match line.act() {
        Act::Rebase(Some(name)) => repository::last(&common.join("logs/refs/heads").join(name)),
        _ => None,
    };
    let tips: Vec<Line> = lines.iter().filter_map(branch).collect();
    let is_commit = |hash: &&str| hash.bytes().any(|b| b != b'0');
    let both = |line: &'_ Line| [line.old.clone(), line.new.clone()];
    let from: BTreeSet<String> = lines.iter().flat_map(|l| both(l)).collect();
    let from: Vec<&str> = from
        .iter()
        .map(String::as_str)
        .chain(tips.iter().map(|tip| tip.old.as_str()))
        .filter(is_commit)
        .collect();
    let kept: Vec<&str> = heads.iter().map(|l| l.new.as_str()).filter(is_commit).collect();
    let entries = commits::list(&facts.places, &facts.session.job).unwrap_or_default();
    let known = entries.iter().map(|e| (&e.hash, e.gone));
    let new = made.iter().filter_map(|c| match c {
        Change::Add(entry) => Some((&entry.hash, false)),
        _ => None,
    });
    let known: Vec<(&String, bool)> = known.chain(new).collect();
    let mut changes = Vec::new();
    match git::lost(common, &from, &kept) {
        Ok(lost) => changes.extend(
            known
                .iter()
                .filter(|(hash, _)| lost.contains(*hash))
                .map(|(h, _)| Change::Drop((*h).clone())),
        ),
        Err(e) => facts.fault("dropped commits not looked up", &e),
    }
    if !known.iter().any(|(_, gone)| *gone) {
        return changes;
    }
    for line in lines.iter().filter(|l| l.act() != Act::Rewritten) {
        let (new, old) = ([line.new.as_str()], [line.old.as_str()]);
        let old = if is_commit(&old[0]) { &old[..] } else { &[] };
        match git::gained(common, &new, old) {
            Ok(back) => changes.extend(
                known
                    .iter()
                    .filter(|(h, gone)| *gone && back.contains(*h))
                    .map(|(h, _)| Change::Restore((*h).clone())),
            ),
            Err(e) => facts.fault("commits that came back not looked up", &e),
        }
    }
    changes
}
