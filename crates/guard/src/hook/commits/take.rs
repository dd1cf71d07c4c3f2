//! The lines that are the session's own: into the job's list, and from there into its file.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::Candidate;
use crate::files::repository::{self, Mark};
use crate::files::{commits, git};
use crate::git::{Act, Change, Entry, Evidence, Line, add};
use crate::hook::facts::Facts;
use base::log;

/// The most commits that are taken over at one look.
const MOST_TAKEN: usize = 500;

/// A fast-forward that looks like a cherry-pick brings a commit older than this, in seconds.
const FAST_FORWARD_SECONDS: i64 = 60;

/// Brings what this session did into the job's list and its file.
pub(super) fn take(
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
        let gone = dropped(facts, &common, &lines, &heads, &new).unwrap_or_else(|e| {
            facts.fault("dropped commits not looked up", &e);
            Vec::new()
        });
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
        BTreeMap::new()
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
) -> io::Result<Vec<Change>> {
    let lines: Vec<&Line> = lines.iter().map(|(c, _)| &c.line).filter(|l| l.drops()).collect();
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
        return Ok(Vec::new());
    };
    let tip = |line: &&Line| match line.act() {
        Act::Rebase(Some(name)) => repository::last(&common.join("logs/refs/heads").join(name)),
        _ => None,
    };
    let tips: Vec<Line> = lines.iter().filter_map(tip).collect();
    let is_commit = |hash: &&str| hash.bytes().any(|b| b != b'0');
    let from: BTreeSet<&str> = lines
        .iter()
        .flat_map(|line| [line.old.as_str(), line.new.as_str()])
        .chain(tips.iter().map(|tip| tip.old.as_str()))
        .filter(is_commit)
        .collect();
    let from: Vec<&str> = from.into_iter().collect();
    let kept: Vec<&str> = heads.iter().map(|l| l.new.as_str()).filter(is_commit).collect();
    let entries = commits::list(&facts.places, &facts.session.job).unwrap_or_default();
    let new = made.iter().filter_map(|change| match change {
        Change::Add(entry) => Some((entry.hash.as_str(), false)),
        _ => None,
    });
    let known: Vec<(&str, bool)> =
        entries.iter().map(|e| (e.hash.as_str(), e.gone)).chain(new).collect();
    let lost = git::lost(common, &from, &kept)?;
    let lost = known.iter().filter(|(hash, _)| lost.contains(*hash));
    let mut changes: Vec<_> = lost.map(|(hash, _)| Change::Drop((*hash).to_owned())).collect();
    if last.act() != Act::Rewritten && known.iter().any(|(_, gone)| *gone) {
        let before: Vec<&str> = [first.old.as_str()].into_iter().filter(is_commit).collect();
        let back = git::gained(common, &[&last.new], &before)?;
        let back = known.iter().filter(|(hash, gone)| *gone && back.contains(*hash));
        changes.extend(back.map(|(hash, _)| Change::Restore((*hash).to_owned())));
    }
    Ok(changes)
}
