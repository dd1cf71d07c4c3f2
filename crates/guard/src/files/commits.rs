//! The commits of a job. Only the hooks write the list in the state, and the section in the
//! compaction file is rendered from it. The list survives when the agent's file is lost or edited.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

mod claims;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::jobs;
use super::repository::Mark;
use crate::compaction::{self, EditError, Role};
use crate::git::{self, Change, Entry};
use crate::seal::{self, Commit};
use crate::settings::Settings;
use base::clock::Time;
use base::paths::Places;
use base::{atomic, beneath, lock};

pub use claims::claim;

/// How long to wait for the lock of a list or of a session's marks.
const PATIENCE: Duration = Duration::from_secs(2);

fn path(places: &Places, job: &str) -> PathBuf {
    places.commits().join(format!("{job}.jsonl"))
}

/// A job's list, oldest first, without damaged lines; `None` if it does not exist.
pub fn list(places: &Places, job: &str) -> Option<Vec<Entry>> {
    let bytes = atomic::read(&path(places, job)).ok()??;
    Some(bytes.split(|b| *b == b'\n').filter_map(|l| serde_json::from_slice(l).ok()).collect())
}

/// A job's list, also under the job's former name. The verb that renames a job cannot move the
/// list, and a seal may follow in the same command.
fn list_of(places: &Places, job: &str) -> Option<Vec<Entry>> {
    let before = || {
        let names = fs::read_dir(places.commits()).into_iter().flatten().flatten();
        names
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter_map(|name| Some(name.strip_suffix(".jsonl")?.to_owned()))
            .filter(|name| name != job && jobs::current_name(places, name) == job)
            .find_map(|name| list(places, &name))
    };
    list(places, job).or_else(before)
}

/// Changes a job's list. Returns `true` if it changed.
pub fn change(places: &Places, job: &str, changes: Vec<Change>) -> io::Result<bool> {
    atomic::create_private_dir(&places.commits())?;
    let _held = lock::acquire(&places.commits().join(".lock"), PATIENCE)?;
    let mut entries = list(places, job).unwrap_or_default();
    if !git::apply(&mut entries, changes) {
        return Ok(false);
    }
    write(places, job, &entries)?;
    Ok(true)
}

fn write(places: &Places, job: &str, entries: &[Entry]) -> io::Result<()> {
    let mut bytes = Vec::new();
    for entry in entries {
        serde_json::to_writer(&mut bytes, entry).map_err(io::Error::from)?;
        bytes.push(b'\n');
    }
    atomic::write_unsynced(&path(places, job), &bytes)
}

/// Moves a job's list to the job that took over its file. That job's own commits stay first.
pub fn rename(places: &Places, from: &str, to: &str) -> io::Result<()> {
    if !path(places, from).exists() {
        return Ok(());
    }
    let _held = lock::acquire(&places.commits().join(".lock"), PATIENCE)?;
    let Some(moved) = list(places, from) else { return Ok(()) };
    let mut entries = list(places, to).unwrap_or_default();
    entries.extend(moved);
    write(places, to, &entries)?;
    atomic::remove(&path(places, from))
}

/// A job's commits for the seal, newest first. `None` leaves the section unchanged: there is no
/// list, and the section has no text.
pub fn for_seal(
    places: &Places,
    job: &str,
    text: &str,
    settings: &Settings,
) -> Option<Vec<Commit>> {
    let entries = list_of(places, job);
    let shape = &settings.file.shape;
    let filled = || {
        let section = shape.with_role(Role::Git)?;
        compaction::parse(text, shape).section(section).next().map(drop)
    };
    (entries.is_some() || filled().is_some())
        .then(|| git::commits(entries.as_deref().unwrap_or_default()))
}

/// The text of the job's file with the section filled from the list. Handwritten text stays below,
/// until a seal archives it. Fails if the file's Markdown leaves no place for it.
pub fn filled(
    places: &Places,
    job: &str,
    text: &str,
    settings: &Settings,
) -> Result<String, EditError> {
    let shape = &settings.file.shape;
    let (Some(entries), Some(section)) = (list_of(places, job), shape.with_role(Role::Git)) else {
        return Ok(text.to_owned());
    };
    let document = compaction::parse(text, shape);
    let words = settings.seal_limits().slice(&shape.sections[section]).unwrap_or(0);
    let all: Vec<Commit> = entries.iter().map(git::to_commit).collect();
    let body = seal::updated_section(&document, section, &git::commits(&entries), &all, words);
    match body {
        Some(body) => {
            compaction::replace_section_body(text, shape, &shape.sections[section].name, &body)
        }
        None => Ok(text.to_owned()),
    }
}

/// Updates the section in the live file. Does nothing without a file. Fails if the file's Markdown
/// leaves no place for it.
pub fn refresh(places: &Places, job: &str, settings: &Settings) -> io::Result<()> {
    if !beneath::exists(&places.compaction(job)) {
        return Ok(());
    }
    let _held = jobs::lock(places, job)?;
    let Some(text) = jobs::read(places, job)? else { return Ok(()) };
    let new = filled(places, job, &text, settings).map_err(io::Error::other)?;
    if new != text {
        jobs::write_live(places, job, &new)?;
    }
    Ok(())
}

/// What a session knows about the repositories around it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Watch {
    /// Working trees by their own git folder, with the mark from the last check.
    pub trees: BTreeMap<PathBuf, Mark>,
    /// When the last check was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looked: Option<Time>,
    /// Commits without an owner so far. A longer call that was running may still turn out to have
    /// made them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Waiting>,
    /// Calls that still run in the background.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<Background>,
}

/// A commit without an owner so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Its hash.
    pub hash: String,
    /// When it was first seen. A call that began later cannot have made it.
    pub seen: Time,
}

/// A call that still runs in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Background {
    /// The command.
    pub command: String,
    /// When it began.
    pub began: Time,
    /// The shell's folder.
    pub cwd: Option<PathBuf>,
}

/// Reads a session's watch.
pub fn load_watch(places: &Places, session: &str) -> Watch {
    let bytes = atomic::read(&places.session(session, "git")).ok().flatten();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Locks a session's watch, so that only one of two parallel calls reads each line.
pub fn lock_watch(places: &Places, session: &str) -> io::Result<lock::Lock> {
    let path = places.session(session, "git.lock");
    match lock::acquire(&path, PATIENCE) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            places.ensure_state()?;
            lock::acquire(&path, PATIENCE)
        }
        other => other,
    }
}

/// Gives the background calls of a session to the session that continues it.
pub fn follow(places: &Places, parent: &str, child: &str) -> io::Result<()> {
    let before = load_watch(places, parent);
    if before.background.is_empty() {
        return Ok(());
    }
    let _held = lock_watch(places, child)?;
    save_watch(places, child, &Watch { waiting: Vec::new(), ..before })
}

/// Writes a session's watch.
pub fn save_watch(places: &Places, session: &str, watch: &Watch) -> io::Result<()> {
    let bytes = serde_json::to_vec(watch).map_err(io::Error::from)?;
    atomic::write_unsynced(&places.session(session, "git"), &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::env::Env;

    #[test]
    fn damage_costs_a_line_and_a_list_moves_behind_another() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::for_project(&env, dir.path()).unwrap();
        rename(&places, "none", "other").unwrap();
        std::fs::create_dir_all(places.commits()).unwrap();
        let line =
            |hash: &str| format!("{{\"hash\":\"{hash}\",\"subject\":\"s\",\"session\":\"a\"}}\n");
        std::fs::write(path(&places, "j"), format!("{}{{torn\n{}", line("1"), line("2"))).unwrap();
        std::fs::write(path(&places, "k"), line("0")).unwrap();
        rename(&places, "j", "k").unwrap();
        let hashes: Vec<_> = list(&places, "k").unwrap().into_iter().map(|e| e.hash).collect();
        assert_eq!((hashes, list(&places, "j")), (vec!["0".into(), "1".into(), "2".into()], None));
    }
}
