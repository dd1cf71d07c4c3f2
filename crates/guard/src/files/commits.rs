//! The commits of a job: a list in the state, which only the hooks write, and the section
//! of the compaction file that is rendered from it. The agent's file may be lost or
//! edited; the list stays, and what the section says comes from it.
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

/// How long a list or a session's marks are waited for.
const PATIENCE: Duration = Duration::from_secs(2);

fn path(places: &Places, job: &str) -> PathBuf {
    places.commits().join(format!("{job}.jsonl"))
}

/// A job's list, oldest first; damaged lines are left out. `None` where there is none.
pub fn list(places: &Places, job: &str) -> Option<Vec<Entry>> {
    let bytes = atomic::read(&path(places, job)).ok()??;
    Some(bytes.split(|b| *b == b'\n').filter_map(|l| serde_json::from_slice(l).ok()).collect())
}

/// A job's list, also where it still lies under the name that the job had before: the
/// verb that gave it another can't move it, and a seal may follow in the same command.
fn list_of(places: &Places, job: &str) -> Option<Vec<Entry>> {
    let before = || {
        let names = fs::read_dir(places.commits()).into_iter().flatten().flatten();
        names
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter_map(|name| Some(name.strip_suffix(".jsonl")?.to_owned()))
            .filter(|name| name != job && jobs::name_now(places, name) == job)
            .find_map(|name| list(places, &name))
    };
    list(places, job).or_else(before)
}

/// Changes a job's list; `true` if it is another one now.
///
/// # Errors
/// What the system says.
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

/// Gives a job's list to the job that took over its file. What that one had stays in front.
///
/// # Errors
/// What the system says.
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

/// A job's commits for the seal, newest first. `None` leaves the section as it is: there is
/// no list, and nothing in the section that somebody could have put there by hand.
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

/// A text of the job's file with the section as the list has it. What stands there by
/// somebody's hand stays below, until a seal moves it to the archive.
///
/// # Errors
/// The file's Markdown leaves no place for it.
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
    let all: Vec<Commit> = entries.iter().map(git::shown).collect();
    let body = seal::section_of(&document, section, &git::commits(&entries), &all, words);
    match body {
        Some(body) => {
            compaction::replace_section_body(text, shape, &shape.sections[section].name, &body)
        }
        None => Ok(text.to_owned()),
    }
}

/// Brings the live file's section up to date; does nothing where there is no file.
///
/// # Errors
/// What the system says, and what is wrong with the file.
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

/// What a session knows of the repositories around it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Watch {
    /// Working trees, by what is their own in the repository, as they were looked at last.
    pub trees: BTreeMap<PathBuf, Mark>,
    /// When that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looked: Option<Time>,
    /// Commits that were nobody's when they were seen: a longer call that was running then
    /// may turn out to have made them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Waiting>,
    /// Calls that run on in the background.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<Background>,
}

/// A commit that waits for its call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Its hash.
    pub hash: String,
    /// When it was seen first: a call that began later can't have made it.
    pub seen: Time,
}

/// A call that runs on in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Background {
    /// What was run.
    pub command: String,
    /// When it began.
    pub began: Time,
    /// Where its shell stood.
    pub cwd: Option<PathBuf>,
}

/// A session's watch as it was written last.
pub fn watch(places: &Places, session: &str) -> Watch {
    let bytes = atomic::read(&places.session(session, "git")).ok().flatten();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Holds a session's watch, so that of two parallel calls one reads each line.
///
/// # Errors
/// What the system says.
pub fn hold(places: &Places, session: &str) -> io::Result<lock::Lock> {
    let path = places.session(session, "git.lock");
    match lock::acquire(&path, PATIENCE) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            places.ensure_state()?;
            lock::acquire(&path, PATIENCE)
        }
        other => other,
    }
}

/// A session goes on as another one: so do its calls in the background.
///
/// # Errors
/// What the system says.
pub fn follow(places: &Places, parent: &str, child: &str) -> io::Result<()> {
    let before = watch(places, parent);
    if before.background.is_empty() {
        return Ok(());
    }
    let _held = hold(places, child)?;
    keep(places, child, &Watch { waiting: Vec::new(), ..before })
}

/// Writes a session's watch down.
///
/// # Errors
/// What the system says.
pub fn keep(places: &Places, session: &str, watch: &Watch) -> io::Result<()> {
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
        let env = Env::of([("HOME", dir.path().to_str().unwrap())]);
        let places = Places::of(&env, dir.path()).unwrap();
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
