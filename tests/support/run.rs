//! One run of the program under test, and its cost.

use std::fs;
use std::io::{Read as _, Seek as _, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};

use crate::support::hook::Answer;

#[derive(Debug)]
pub struct Ran {
    pub answer: Answer,
    /// CPU time of the program itself.
    pub cpu: Duration,
    /// Whether it was ended at the deadline.
    pub hung: bool,
}

/// Runs a command with this input to its end or the deadline.
pub fn run(mut command: Command, stdin: &[u8], deadline: Duration) -> Ran {
    // Files instead of pipes, because a child that outlives the program would hold a pipe open.
    let mut out = tempfile::tempfile().expect("file for stdout");
    let mut err = tempfile::tempfile().expect("file for stderr");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(out.try_clone().expect("stdout"))
        .stderr(err.try_clone().expect("stderr"))
        .spawn()
        .expect("started");
    let mut pipe = child.stdin.take().expect("stdin");
    std::thread::scope(|scope| {
        // A program may end without reading all its input; the broken pipe is not an error.
        scope.spawn(move || drop(pipe.write_all(stdin)));
        let pid = Pid::from_child(&child);
        let hung = !ends(pid, deadline);
        if hung {
            child.kill().expect("killed");
            ends(pid, deadline);
        }
        let cpu = cpu(pid);
        let status = child.wait().expect("reaped");
        let text = |file: &mut fs::File| {
            let mut bytes = Vec::new();
            file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("read back");
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let answer = Answer { stdout: text(&mut out), stderr: text(&mut err), code: status.code() };
        Ran { answer, cpu, hung }
    })
}

/// Waits for the process without reaping it; `false` at the deadline.
fn ends(pid: Pid, deadline: Duration) -> bool {
    let fd = pidfd_open(pid, PidfdFlags::empty()).expect("pidfd");
    let patience = Timespec { tv_sec: deadline.as_secs() as i64, tv_nsec: 0 };
    let ready = poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&patience)).expect("polled");
    if ready > 0 {
        let kept = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(pid), kept).expect("ended");
    }
    ready > 0
}

/// CPU time of an ended, unreaped process: its first thread's, the only one in the hook.
fn cpu(pid: Pid) -> Duration {
    let path = format!("/proc/{}/schedstat", pid.as_raw_nonzero());
    let text = fs::read_to_string(path).unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|field| field.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a kernel with schedstat"))
}
