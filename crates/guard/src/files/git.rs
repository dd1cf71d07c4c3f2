//! Asks git about commits, with one child process per question and a timeout. Without an answer the
//! caller goes on.
#![allow(clippy::disallowed_methods, reason = "git is asked here and nowhere else")]

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use base::process;

/// How long git may take for an answer. If the first one takes longer, nothing more is asked.
const PATIENCE: Duration = Duration::from_secs(1);

/// The maximum number of commits to read.
const MOST: &str = "--max-count=5000";

/// A commit as git reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitCommit {
    /// Its hash.
    pub hash: String,
    /// The first paragraph of the message, on one line.
    pub subject: String,
    /// The rest of the message.
    pub body: String,
    /// The committer's date, in seconds since 1970.
    pub at: i64,
}

/// The commits of all branches and of `heads` (hashes) since a time, parents first. Fails if git is
/// missing, refuses, or takes too long.
pub fn commits_since(common: &Path, heads: &[String], at: i64) -> io::Result<Vec<GitCommit>> {
    let mut command = log(common);
    command.args(["--reverse", "--topo-order", MOST, "--branches"]);
    command.arg(format!("--max-age={at}")).args(heads);
    made(command)
}

/// A commit by its abbreviated hash. Fails if it does not exist.
pub fn find_commit(common: &Path, short: &str) -> io::Result<Vec<GitCommit>> {
    let mut command = log(common);
    command.args(["--no-walk", short]);
    made(command)
}

/// The given commits that no branch, no tag and none of `heads` reaches.
pub fn unreachable_commits(
    common: &Path,
    heads: &[String],
    known: &[&str],
) -> io::Result<BTreeSet<String>> {
    let mut command = git(common);
    command.args(["rev-list", "--ignore-missing", MOST]).args(known);
    command.args(["--not", "--branches", "--tags"]).args(heads);
    let lost: BTreeSet<String> = ask(command, PATIENCE)?.lines().map(str::to_owned).collect();
    Ok(lost.into_iter().filter(|hash| known.contains(&hash.as_str())).collect())
}

/// The given commits that the repository still has.
pub fn existing_commits(common: &Path, known: &[&str]) -> io::Result<BTreeSet<String>> {
    let mut command = git(common);
    command.args(["rev-list", "--no-walk", "--ignore-missing"]).args(known);
    Ok(ask(command, PATIENCE)?.lines().map(str::to_owned).collect())
}

fn log(common: &Path) -> Command {
    let mut command = git(common);
    command.args(["log", "--ignore-missing", "-z", "-s", "--no-color", "--no-notes"]);
    command.args(["--no-show-signature", "--encoding=UTF-8", "--format=%H %ct%n%s%n%b"]);
    command
}

fn made(command: Command) -> io::Result<Vec<GitCommit>> {
    let text = ask(command, PATIENCE)?;
    let one = |record: &str| {
        let (head, rest) = record.split_once('\n')?;
        let (hash, at) = head.split_once(' ')?;
        let (subject, body) = rest.split_once('\n').unwrap_or((rest, ""));
        let (subject, body) = (subject.to_owned(), body.trim_end().to_owned());
        Some(GitCommit { hash: hash.to_owned(), subject, body, at: at.parse().ok()? })
    };
    Ok(text.split('\0').filter_map(one).collect())
}

/// Git for this repository only. It asks for nothing, fetches nothing and runs no other program.
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
