//! The commits of a job. Those of a session are what git's log has in its worktree since the session
//! began; they are read at each seal. The list in the job's folder holds those of earlier sessions,
//! too, and survives when the agent's file is lost or edited.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::neighbours;
use super::repository::{self, Repository};
use crate::session::Session;
use crate::settings::Settings;
use base::paths::Places;
use base::{atomic, process};
use notes::compaction::{self, EditError, Role};
use notes::seal::{self, Commit};

/// How long git may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// The most commits of a list; the oldest are dropped.
const MOST: usize = 500;

/// Digits of a hash in the compaction file.
const SHORT: usize = 10;

/// The most characters of a subject and of a body.
const SUBJECT_CHARS: usize = 400;
const BODY_CHARS: usize = 4_000;

/// Seconds that a commit's date may be before the session's start.
const SLACK: i64 = 2;

/// One commit of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The complete hash.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
    /// The rest of its message.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// The session that made it.
    pub session: String,
}

/// The commit that is checked out in a folder now.
pub fn head(folder: &Path) -> Option<String> {
    let mut command = git(&repository::find(folder)?);
    command.args(["rev-parse", "--verify", "--quiet", "HEAD"]);
    let output = process::output(&mut command, PATIENCE).ok()?;
    let hash = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (!hash.is_empty()).then_some(hash)
}

fn path(places: &Places, job: &str) -> PathBuf {
    places.job(job).join("commits.jsonl")
}

/// A job's list, oldest first, without damaged lines; `None` if it does not exist.
fn list(places: &Places, job: &str) -> Option<Vec<Entry>> {
    let bytes = atomic::read(&path(places, job)).ok()??;
    Some(bytes.split(|b| *b == b'\n').filter_map(|l| serde_json::from_slice(l).ok()).collect())
}

/// Brings a job's list up to date with what the session `id` committed. The caller holds the job's
/// lock.
///
/// # Errors
/// Git's, or the system's.
pub fn update(places: &Places, job: &str, id: &str, session: &Session) -> io::Result<()> {
    let Some(made) = made(places, id, session)? else { return Ok(()) };
    let before = list(places, job);
    let mut entries = before.clone().unwrap_or_default();
    // A rebase or an amendment gives a commit another hash.
    let replaced =
        |e: &Entry| made.iter().any(|new| new.hash == e.hash || new.subject == e.subject);
    entries.retain(|entry| entry.session != id && !replaced(entry));
    entries.extend(made);
    entries.drain(..entries.len().saturating_sub(MOST));
    if before.as_ref() == Some(&entries) || (before.is_none() && entries.is_empty()) {
        return Ok(());
    }
    let mut bytes = Vec::new();
    for entry in &entries {
        serde_json::to_writer(&mut bytes, entry).map_err(io::Error::from)?;
        bytes.push(b'\n');
    }
    atomic::write_unsynced(&path(places, job), &bytes)
}

/// The session's commits in its worktree, oldest first; `None` if that is not known.
fn made(places: &Places, id: &str, session: &Session) -> io::Result<Option<Vec<Entry>>> {
    let Some(began) = session.started else { return Ok(None) };
    let Some(repository) = worktree(places, session) else { return Ok(None) };
    let mut command = git(&repository);
    command.args(["log", "-z", "-s", "--no-color", "--no-notes", "--no-show-signature"]);
    command.args(["--reverse", "--topo-order", "--encoding=UTF-8", "--format=%H%n%s%n%b"]);
    command.arg(format!("--max-count={MOST}"));
    command.arg(format!("--max-age={}", began.timestamp() - SLACK));
    let start = session.start_commit.as_deref();
    command.arg(start.map_or_else(|| "HEAD".to_owned(), |start| format!("{start}..HEAD")));
    command.arg("--");
    let output = process::output(&mut command, PATIENCE)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        // A repository still without commits has no HEAD.
        let empty = start.is_none() && said.contains("bad revision");
        let said = said.lines().next().unwrap_or("git failed").to_owned();
        return if empty { Ok(Some(Vec::new())) } else { Err(io::Error::other(said)) };
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut made: Vec<Entry> = text.split('\0').filter_map(|record| entry(record, id)).collect();
    if neighbours::worked_beside(places, id, session, &repository) {
        let reported = reported(places, id);
        made.retain(|entry| reported.iter().any(|short| entry.hash.starts_with(short.as_str())));
    }
    Ok(Some(made))
}

fn entry(record: &str, session: &str) -> Option<Entry> {
    let (hash, rest) = record.split_once('\n')?;
    let (subject, body) = rest.split_once('\n').unwrap_or((rest, ""));
    let cut = |text: &str, most: usize| match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    };
    Some(Entry {
        hash: hash.to_owned(),
        subject: cut(subject, SUBJECT_CHARS),
        body: cut(body.trim_end(), BODY_CHARS),
        session: session.to_owned(),
    })
}

/// The worktree that the session works in: where its shell is, if that is in the project's
/// repository, else the project's.
fn worktree(places: &Places, session: &Session) -> Option<Repository> {
    let own = repository::find(&places.project)?;
    let here = session.cwd.as_deref().and_then(|cwd| repository::find(Path::new(cwd)));
    Some(here.filter(|here| here.common == own.common).unwrap_or(own))
}

/// Git for this worktree only. It asks for nothing, fetches nothing and runs no other program.
fn git(repository: &Repository) -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GIT_") {
            command.env_remove(name);
        }
    }
    command
        .env("LC_ALL", "C")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .current_dir(&repository.own)
        .arg("--git-dir=.")
        .arg("--no-pager")
        .args(["-c", "core.fsmonitor=false", "-c", "log.mailmap=false"]);
    command
}

fn reported_path(places: &Places, session: &str) -> PathBuf {
    places.session(session, "commits")
}

/// The hashes that calls of the session reported.
fn reported(places: &Places, session: &str) -> BTreeSet<String> {
    let text = atomic::read_text(&reported_path(places, session)).ok().flatten();
    text.unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Keeps the hashes that a call's output reports, for a worktree with several sessions.
///
/// # Errors
/// What the system says.
pub fn keep_reported(places: &Places, session: &str, output: &str) -> io::Result<()> {
    let lines: String = reports(output).flat_map(|short| [short, "\n"]).collect();
    if lines.is_empty() {
        return Ok(());
    }
    atomic::append(&reported_path(places, session), lines.as_bytes())
}

/// The abbreviated hashes in git's reports of commits: `[main 1a2b3c4] subject`.
fn reports(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| {
        let (inside, _) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
        let short = inside.rsplit(' ').next()?;
        let hash = short.len() >= 4 && short.bytes().all(|b| b.is_ascii_hexdigit());
        (hash && short.len() < inside.len()).then_some(short)
    })
}

/// The list for the compaction file, newest first.
fn newest_first(entries: &[Entry]) -> Vec<Commit> {
    let commit = |entry: &Entry| Commit {
        hash: entry.hash.chars().take(SHORT).collect(),
        subject: entry.subject.clone(),
        body: entry.body.clone(),
    };
    entries.iter().rev().map(commit).collect()
}

/// A job's commits for the seal, newest first.
pub fn for_seal(places: &Places, job: &str) -> Vec<Commit> {
    newest_first(&list(places, job).unwrap_or_default())
}

/// The text of a job's new file with the section filled from the list. Fails if the file's Markdown
/// leaves no place for it.
pub fn filled(
    places: &Places,
    job: &str,
    text: &str,
    settings: &Settings,
) -> Result<String, EditError> {
    let shape = &settings.file.shape;
    let (Some(entries), Some(section)) = (list(places, job), shape.with_role(Role::Git)) else {
        return Ok(text.to_owned());
    };
    let section = &shape.sections[section];
    let words = settings.seal_limits().slice(section).unwrap_or(0);
    let body = seal::render_commits(&newest_first(&entries), words);
    compaction::replace_section_body(text, shape, &section.name, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_gits_own_form_reports_a_commit() {
        let output =
            "hooks ran\n[main (root-commit) 1a2b3c4] x\n [b 5d6e7f8] y\n[ok] x\n[main 1a] x";
        assert_eq!(reports(output).collect::<Vec<_>>(), ["1a2b3c4", "5d6e7f8"]);
    }

    #[test]
    fn a_long_message_is_cut() {
        let long = format!("abc\n{}\n{}", "s".repeat(1_200_000), "b".repeat(9_000));
        let entry = entry(&long, "s").unwrap();
        assert_eq!(entry.subject.chars().count(), SUBJECT_CHARS + 1);
        assert_eq!(entry.body.chars().count(), BODY_CHARS + 1);
    }
}
