//! Starts other programs and waits for them with a deadline, and looks at running processes.
#![allow(clippy::disallowed_methods, reason = "this module waits for processes, and looks at them")]

#[cfg(target_os = "linux")]
mod proc;
#[cfg(any(not(target_os = "linux"), test))]
pub mod ps;

use std::ffi::OsStr;
use std::io::{self, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

#[cfg(target_os = "linux")]
pub use proc::*;
#[cfg(not(target_os = "linux"))]
pub use ps::*;

/// How long output may come in after a program ended, if something that it started holds its pipes.
const REST: Duration = Duration::from_millis(200);

/// Finds a program by its name on a search path.
pub fn on_path(path: Option<&OsStr>, name: &str) -> Option<PathBuf> {
    std::env::split_paths(path?).map(|folder| folder.join(name)).find(|file| is_program(file))
}

/// Whether a shell would start it.
pub fn is_program(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// How long ago this process was started; `None` if the system does not tell.
pub fn age() -> Option<Duration> {
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split(' ').next()?.parse().ok()?;
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let started = start_time(std::process::id())? as f64 / ticks;
    Duration::try_from_secs_f64(uptime - started).ok()
}

/// Runs a program without input and returns its output.
///
/// # Errors
/// `TimedOut` past the deadline. The program is killed then, with all that it started.
pub fn output(command: &mut Command, deadline: Duration) -> io::Result<Output> {
    output_with_input(command, &[], deadline)
}

/// [`output`] with this input.
pub fn output_with_input(
    command: &mut Command,
    input: &[u8],
    deadline: Duration,
) -> io::Result<Output> {
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_owned();
        // A program may end without reading its input.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let group = Pid::from_child(&child);
    let stdout = in_thread({
        let pipe = child.stdout.take();
        move || read(pipe)
    });
    let stderr = in_thread({
        let pipe = child.stderr.take();
        move || read(pipe)
    });
    let Ok(status) = in_thread(move || child.wait()).recv_timeout(deadline) else {
        // It may have ended by itself in this moment.
        let _ = kill_process_group(group, Signal::KILL);
        let why = format!("no answer within {} s", deadline.as_secs());
        return Err(io::Error::new(io::ErrorKind::TimedOut, why));
    };
    let [stdout, stderr] = [stdout, stderr].map(|pipe| pipe.recv_timeout(REST).unwrap_or_default());
    Ok(Output { status: status?, stdout, stderr })
}

/// The result of `work`, which another thread does.
fn in_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (sender, receiver) = mpsc::channel();
    // After the deadline nobody receives it.
    thread::spawn(move || drop(sender.send(work())));
    receiver
}

/// Everything in a pipe, as far as it can be read.
fn read(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}

/// Starts a program that outlives this process, without input and output.
pub fn spawn_detached(program: &Path, arguments: &[&OsStr]) -> io::Result<()> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn what_hangs_is_ended() {
        let mut sleep = Command::new("sleep");
        let why = output(sleep.arg("600"), Duration::from_millis(50)).unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::TimedOut);
        let said = output(Command::new("echo").arg("hello"), Duration::from_secs(10)).unwrap();
        assert_eq!(said.stdout, b"hello\n");
        let deadline = Duration::from_secs(10);
        let long = "ü\n".repeat(200_000);
        let said = output_with_input(&mut Command::new("cat"), long.as_bytes(), deadline).unwrap();
        assert_eq!(said.stdout, long.as_bytes());
    }

    #[test]
    fn what_a_program_started_ends_with_it_and_is_not_waited_for() {
        let begun = Instant::now();
        let shell =
            |script: &str, deadline| output(Command::new("sh").args(["-c", script]), deadline);
        let why = shell("sleep 60 & echo $! >&2; wait", Duration::from_millis(200)).unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::TimedOut);
        let ended = shell("sleep 60 & exit 3", Duration::from_secs(30)).unwrap();
        assert_eq!(ended.status.code(), Some(3));
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
}
