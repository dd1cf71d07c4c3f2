//! Reads the client's process and terminal from `/proc`: which session it runs, and who gets its
//! keys.
#![allow(clippy::disallowed_methods, reason = "this module looks at processes")]

use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::boundary::Client;
use crate::files::state;
use base::env;

/// The maximum number of parents to follow.
const DEEPEST: usize = 64;

/// The process relations from `/proc/<pid>/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    parent: u32,
    group: i32,
    /// The group in the terminal's foreground; -1 without a terminal.
    foreground: i32,
}

/// The parent process id.
pub fn parent(pid: u32) -> Option<u32> {
    stat(pid).map(|found| found.parent)
}

/// Whether the client still runs and its process id was not reused.
pub fn alive(client: Client) -> bool {
    state::client(client.pid) == Some(client)
}

/// Whether the client is alive and is `root` or one of its descendants.
pub fn contains_client(root: u32, client: Client) -> bool {
    let mut pid = client.pid;
    for _ in 0..DEEPEST {
        if pid == root {
            // Checked last, so that a process id reused in the meantime is noticed.
            return alive(client);
        }
        match stat(pid) {
            Some(found) if found.parent > 1 => pid = found.parent,
            _ => return false,
        }
    }
    false
}

/// Whether the client reads its keys from this terminal.
pub fn reads_terminal(client: Client, terminal: &str) -> bool {
    let input = std::fs::read_link(format!("/proc/{}/fd/0", client.pid));
    input.is_ok_and(|input| input == Path::new(terminal))
}

/// Whether the client is in the foreground of its terminal. A stopped client is not, and neither is
/// one that started an editor.
pub fn is_in_foreground(pid: u32) -> bool {
    stat(pid).is_some_and(|found| found.group == found.foreground)
}

/// Finds a process that runs this session, or has its file open.
pub fn find_session_process(id: &str, path: &Path) -> Option<u32> {
    let own = std::process::id();
    let all = std::fs::read_dir("/proc").ok()?.flatten();
    let mut all = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let runs = |pid: &u32| resumes(*pid, id, path) || has_open(*pid, path) || inside(*pid, id);
    all.find(|pid| *pid != own && runs(pid))
}

/// Whether a process was started inside the session, such as a shell of its agent.
fn inside(pid: u32, id: &str) -> bool {
    let Ok(variables) = std::fs::read(format!("/proc/{pid}/environ")) else { return false };
    let session = format!("{}={id}", env::SESSION_ID);
    variables.split(|byte| *byte == 0).any(|variable| variable == session.as_bytes())
}

/// The environment a process was started with; empty if it is not readable.
pub fn environment(pid: u32) -> Vec<(String, String)> {
    let bytes = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let variables = bytes.split(|byte| *byte == 0).filter_map(|set| str::from_utf8(set).ok());
    let pairs = variables.filter_map(|set| set.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Whether a process was started to resume the session.
fn resumes(pid: u32, id: &str, path: &Path) -> bool {
    let words = arguments(pid);
    let named = |word: &str| word == id || Path::new(word) == path;
    words.windows(2).any(|pair| {
        matches!(pair[0].as_str(), "--resume" | "-r" | "--session" | "--session-id")
            && named(&pair[1])
    }) || words.iter().any(|word| word.strip_prefix("--resume=").is_some_and(named))
}

fn has_open(pid: u32, path: &Path) -> bool {
    let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    open.flatten().any(|entry| std::fs::read_link(entry.path()).is_ok_and(|file| file == path))
}

/// Whether the client moved its session away. `←` moves it to a process of the client's daemon,
/// under another id. The terminal then shows that session or any other. (Seen with 2.1.250 and
/// 2.1.329: the daemon is its child.)
pub fn gave_session_away(client: Client) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", client.pid)) else {
        return false;
    };
    let children = threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let daemon = |pid: &str| {
        let words = pid.parse().map(arguments).unwrap_or_default();
        words.get(1..3).is_some_and(|words| words == ["daemon", "run"])
    };
    children.into_iter().any(|pids| pids.split_whitespace().any(daemon))
}

/// The arguments a process was started with; empty if they are not readable.
pub fn arguments(pid: u32) -> Vec<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0);
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// The working directory of a process.
pub fn folder(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

fn stat(pid: u32) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything, so the fields are counted after it: state,
    // parent, group, session, terminal, foreground group.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let foreground = fields.nth(2)?.parse().ok()?;
    Some(Stat { parent, group, foreground })
}

/// Whether a headless client still takes prompts. It was started with `--input-format stream-json`,
/// and its host keeps the other end of its input open.
pub fn takes_prompts(pid: u32) -> bool {
    let words = arguments(pid);
    let stream = words.iter().any(|word| word == "--input-format=stream-json")
        || words.windows(2).any(|pair| pair == ["--input-format", "stream-json"]);
    stream && !hung_up(pid)
}

/// Whether nobody can write to the process's input any more.
fn hung_up(pid: u32) -> bool {
    // Opening the pipe again gives an own handle. Nothing is read from it.
    let Ok(input) = File::open(format!("/proc/{pid}/fd/0")) else { return true };
    let mut fds = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    if poll(&mut fds, Some(&now)).is_err() {
        return true;
    }
    fds[0].revents().contains(PollFlags::HUP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    #[test]
    fn a_process_stands_below_its_parents() {
        let me = state::client(std::process::id()).unwrap();
        let parent = stat(me.pid).unwrap().parent;
        assert!(contains_client(me.pid, me) && contains_client(parent, me));
        assert!(!contains_client(me.pid, state::client(parent).unwrap()));
        assert!(
            !contains_client(parent, Client { start: me.start + 1, ..me }),
            "another of the same number"
        );
        assert!(!contains_client(u32::MAX, me));
        assert!(!reads_terminal(me, "/dev/pts/none"));
        assert!(!is_in_foreground(0));
    }

    #[test]
    fn an_open_input_is_told_from_a_closed_one() {
        // `read` keeps the shell from replacing itself, so its arguments stay.
        let mut child = Command::new("sh")
            .args(["-c", "read line; read line; true", "sh", "--input-format", "stream-json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let pid = child.id();
        // A new process may not show its arguments yet.
        let shown =
            crate::hook::boundary_flow::wait_for(Duration::from_secs(5), || takes_prompts(pid));
        let open = (shown, hung_up(pid));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(open, (true, false));
        assert!(hung_up(pid) && !takes_prompts(pid));
        assert!(!takes_prompts(std::process::id()), "these arguments are not the client's");
    }
}
