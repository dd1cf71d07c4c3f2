//! Looking at the client's process.
#![allow(clippy::disallowed_methods, reason = "carriers look at processes")]

use std::fs::File;
use std::os::fd::AsFd;

use super::process;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Whether a headless client still takes prompts: it was started with
/// `--input-format stream-json` and its host holds the other end of its input open.
pub fn takes_prompts(pid: u32) -> bool {
    let words = process::arguments(pid);
    let stream = words.iter().any(|word| word == "--input-format=stream-json")
        || words.windows(2).any(|pair| pair == ["--input-format", "stream-json"]);
    stream && !hung_up(pid)
}

/// Whether nobody can write to the process's input any more.
fn hung_up(pid: u32) -> bool {
    // Opening the pipe anew gives a handle of our own; nothing is read from it.
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
    fn an_open_input_is_told_from_a_closed_one() {
        // `read` keeps the shell from replacing itself, so that its arguments stay.
        let mut child = Command::new("sh")
            .args(["-c", "read line; read line; true", "sh", "--input-format", "stream-json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let pid = child.id();
        // A process just begun may not show its arguments yet.
        let shown = crate::hook::crossing::wait_for(Duration::from_secs(5), || takes_prompts(pid));
        let open = (shown, hung_up(pid));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(open, (true, false));
        assert!(hung_up(pid) && !takes_prompts(pid));
        assert!(!takes_prompts(std::process::id()), "these arguments are not the client's");
    }
}
