//! Looks at the client's process and terminal: which session it runs, and who gets its keys.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::boundary::Client;
use crate::files::state;
use base::{atomic, process};

/// The maximum number of parents to follow.
const DEEPEST: usize = 64;

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
        match process::parent(pid) {
            Some(parent) if parent > 1 => pid = parent,
            _ => return false,
        }
    }
    false
}

/// Whether the client reads its keys from this terminal.
pub fn reads_terminal(client: Client, terminal: &str) -> bool {
    process::input(client.pid).is_ok_and(|input| input == Path::new(terminal))
}

/// Finds a process that runs this session, or has its file open.
pub fn find_session_process(id: &str, path: &Path) -> Option<u32> {
    let (own, clients) = (std::process::id(), registered_clients(path));
    let open = clients.iter().find(|client| client.session_id == id).map(|client| client.pid);
    // A registered client may have left the session that it, or what started it, names.
    let is_of = |pid: u32, client: &Registered| {
        state::client(client.pid).is_some_and(|client| contains_client(pid, client))
    };
    let runs = |(pid, words): &(u32, Vec<String>)| {
        *pid != own && resumes(words, id, path) && !clients.iter().any(|client| is_of(*pid, client))
    };
    let running = || process::command_lines().find(runs).map(|(pid, _)| pid);
    let holder = || process::open_files().find(|file| file.path == path).map(|file| file.pid);
    open.or_else(running).or_else(holder)
}

/// What a client writes of itself to `sessions/PID.json` beside its projects, after each change of
/// its session (seen with 2.1.332).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Registered {
    pid: u32,
    session_id: String,
    /// On Linux, [`process::start_time`].
    #[serde(default)]
    proc_start: String,
}

impl Registered {
    fn lives(&self) -> bool {
        let told: Option<u64> = self.proc_start.parse().ok();
        let start = process::start_time(self.pid);
        start.is_some() && told.is_none_or(|told| start == Some(told))
    }
}

/// The live clients that keep their sessions where this file is.
fn registered_clients(path: &Path) -> Vec<Registered> {
    // The folder of all projects may be a link.
    let paths: BTreeSet<PathBuf> =
        [path.to_owned()].into_iter().chain(fs::canonicalize(path)).collect();
    paths.iter().filter_map(|path| path.ancestors().nth(3)).flat_map(registered).collect()
}

/// The live clients whose configuration is in this folder.
fn registered(config: &Path) -> Vec<Registered> {
    let files = fs::read_dir(config.join("sessions")).into_iter().flatten().flatten();
    let read = |file: fs::DirEntry| -> Option<Registered> {
        serde_json::from_slice(&atomic::read_record(&file.path()).ok()??).ok()
    };
    files.filter_map(read).filter(Registered::lives).collect()
}

/// The sessions that live clients have open.
pub fn open_sessions(config: &Path) -> BTreeSet<String> {
    registered(config).into_iter().map(|client| client.session_id).collect()
}

/// Whether a process was started to resume the session.
fn resumes(words: &[String], id: &str, path: &Path) -> bool {
    let named = |word: &str| word == id || Path::new(word) == path;
    words.windows(2).any(|pair| {
        matches!(pair[0].as_str(), "--resume" | "-r" | "--session" | "--session-id")
            && named(&pair[1])
    }) || words.iter().any(|word| word.strip_prefix("--resume=").is_some_and(named))
}

/// Whether the client moved its session away. `←` moves it to a process of the client's daemon,
/// under another id. The terminal then shows that session or any other. (Seen with 2.1.250 and
/// 2.1.329: the daemon is its child.)
pub fn gave_session_away(client: Client) -> bool {
    let is_daemon = |pid: u32| {
        let words = process::arguments(pid);
        words.get(1..3).is_some_and(|words| words == ["daemon", "run"])
    };
    process::children(client.pid).into_iter().any(is_daemon)
}

/// Whether a headless client still takes prompts. It was started with `--input-format stream-json`,
/// and its host keeps the other end of its input open.
pub fn takes_prompts(pid: u32) -> bool {
    let words = process::arguments(pid);
    let stream = words.iter().any(|word| word == "--input-format=stream-json")
        || words.windows(2).any(|pair| pair == ["--input-format", "stream-json"]);
    stream && process::input_is_open(pid)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests start processes")]

    use super::*;

    #[test]
    fn a_process_stands_below_its_parents() {
        let me = state::client(std::process::id()).unwrap();
        let parent = process::parent(me.pid).unwrap();
        assert!(contains_client(me.pid, me) && contains_client(parent, me));
        assert!(!contains_client(me.pid, state::client(parent).unwrap()));
        assert!(
            !contains_client(parent, Client { start: me.start + 1, ..me }),
            "another of the same number"
        );
        assert!(!contains_client(u32::MAX, me));
        assert!(!reads_terminal(me, "/dev/pts/none"));
        assert!(!process::is_in_foreground(0));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_open_input_is_told_from_a_closed_one() {
        use std::process::{Command, Stdio};
        use std::time::Duration;
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
        let open = (shown, !process::input_is_open(pid));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(open, (true, false));
        assert!(!process::input_is_open(pid) && !takes_prompts(pid));
        assert!(!takes_prompts(std::process::id()), "these arguments are not the client's");
    }
}
