//! What only git itself can say of its commits, by one child process a question: the
//! messages, and what is out of reach. Bounded in time; without an answer the caller goes on.
#![allow(clippy::disallowed_methods, reason = "git is asked here and nowhere else")]

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use base::process;

/// How long git may take for the messages.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long it may take for what is in reach: two of these and the messages are less
/// than a hook's time.
const SHORT_PATIENCE: Duration = Duration::from_secs(1);

/// The most commits that are looked at for being in or out of reach.
const MOST: &str = "--max-count=5000";

/// A commit's message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its first paragraph, on one line.
    pub subject: String,
    /// The rest.
    pub body: String,
    /// The committer's date, in seconds since 1970.
    pub at: i64,
}

/// The messages of commits, by hash. A commit that is not there any more is left out.
///
/// # Errors
/// Git isn't there, doesn't answer in time or refuses.
pub fn messages(common: &Path, hashes: &[&str]) -> io::Result<BTreeMap<String, Message>> {
    if hashes.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut command = git(common);
    command
        .args(["log", "--no-walk=unsorted", "--ignore-missing", "-z", "-s", "--no-color"])
        .args(["--no-notes", "--no-show-signature", "--encoding=UTF-8"])
        .arg("--format=%H %ct%n%s%n%b")
        .args(hashes);
    let text = ask(command, PATIENCE)?;
    let one = |record: &str| {
        let (head, rest) = record.split_once('\n')?;
        let (hash, at) = head.split_once(' ')?;
        let (subject, body) = rest.split_once('\n').unwrap_or((rest, ""));
        let (subject, body) = (subject.to_owned(), body.trim_end().to_owned());
        Some((hash.to_owned(), Message { subject, body, at: at.parse().ok()? }))
    };
    Ok(text.split('\0').filter_map(one).collect())
}

/// The commits that are reached from some commits and from no others of these, no branch
/// and no tag.
///
/// # Errors
/// As [`messages`].
pub fn lost(common: &Path, from: &[&str], kept: &[&str]) -> io::Result<BTreeSet<String>> {
    between(common, from, kept, &["--branches", "--tags"])
}

/// The commits that are reached from some and not from others.
///
/// # Errors
/// As [`messages`].
pub fn gained(common: &Path, from: &[&str], before: &[&str]) -> io::Result<BTreeSet<String>> {
    between(common, from, before, &[])
}

fn between(
    common: &Path,
    from: &[&str],
    without: &[&str],
    more: &[&str],
) -> io::Result<BTreeSet<String>> {
    let mut command = git(common);
    command.args(["rev-list", "--ignore-missing", MOST]);
    command.args(from).arg("--not").args(without).args(more);
    Ok(ask(command, SHORT_PATIENCE)?.lines().map(str::to_owned).collect())
}

/// Git on this repository and no other, asking nobody, fetching nothing, running nothing.
fn git(common: &Path) -> Command {
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
        .current_dir(common)
        .arg("--git-dir=.")
        .arg("--no-pager")
        .args(["-c", "core.fsmonitor=false", "-c", "log.mailmap=false"]);
    command
}

fn ask(mut command: Command, patience: Duration) -> io::Result<String> {
    let output = process::output(&mut command, patience)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("git failed").to_owned();
        return Err(io::Error::other(said));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
