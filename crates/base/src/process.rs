//! Starts other programs and waits for them with a deadline, and looks at running processes.
#![allow(clippy::disallowed_methods, reason = "this module waits for processes, and looks at them")]

#[cfg(target_os = "linux")]
mod proc;
#[cfg(any(not(target_os = "linux"), test))]
pub mod ps;

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

#[cfg(target_os = "linux")]
pub use proc::*;
#[cfg(not(target_os = "linux"))]
pub use ps::*;

/// Runs a program without input and returns its output.
///
/// # Errors
/// `TimedOut` past the deadline; the program is killed then, with all that it started.
pub fn output(command: &mut Command, deadline: Duration) -> io::Result<Output> {
    output_with_input(command, &[], deadline)
}

/// [`output`] with this input.
pub fn output_with_input(
    command: &mut Command,
    input: &[u8],
    deadline: Duration,
) -> io::Result<Output> {
    command.process_group(0);
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_owned();
        // A program may end without reading its input.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (sender, receiver) = mpsc::channel();
    // After the deadline nobody receives the output.
    thread::spawn(move || drop(sender.send(child.wait_with_output())));
    if let Ok(output) = receiver.recv_timeout(deadline) {
        return output;
    }
    if let Some(group) = pid {
        // It may have ended by itself in this moment.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let why = format!("no answer within {} s", deadline.as_secs());
    Err(io::Error::new(io::ErrorKind::TimedOut, why))
}

/// Starts a program that outlives this process, without input and output.
pub fn spawn_detached(program: &Path, arguments: &[&OsStr]) -> io::Result<()> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_is_ended() {
        let mut sleep = Command::new("sleep");
        let why = output(sleep.arg("600"), Duration::from_millis(50)).unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::TimedOut);
        let said = output(Command::new("echo").arg("hello"), Duration::from_secs(10)).unwrap();
        assert_eq!(said.stdout, b"hello\n");
        let deadline = Duration::from_secs(10);
        let said = output_with_input(&mut Command::new("cat"), b"hello", deadline).unwrap();
        assert_eq!(said.stdout, b"hello");
    }
}
