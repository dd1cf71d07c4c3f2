//! Runs child processes with a deadline, polls for conditions outside this process, and finds
//! processes that a test left behind.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Limit for any single wait of a test.
pub const DEADLINE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct Output {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// Calls `probe` until it returns a value or the deadline passes. For things that cannot notify
/// the test: a screen, a file, another process.
pub fn poll<T>(
    deadline: Duration,
    every: Duration,
    mut probe: impl FnMut() -> Option<T>,
) -> Option<T> {
    let end = Instant::now() + deadline;
    loop {
        if let Some(value) = probe() {
            return Some(value);
        }
        if Instant::now() >= end {
            return None;
        }
        thread::sleep(every);
    }
}

/// Runs a command to its end. Kills it after the deadline and returns an error.
pub fn run(command: &mut Command, deadline: Duration) -> io::Result<Output> {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let waited = poll(deadline, Duration::from_millis(2), || child.try_wait().transpose());
    let Some(status) = waited else {
        child.kill()?;
        child.wait()?;
        return Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!("{command:?} still ran after {deadline:?}"),
        ));
    };
    let text = |reader: thread::JoinHandle<String>| reader.join().unwrap_or_default();
    Ok(Output { status: status?, stdout: text(stdout), stderr: text(stderr) })
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // After a read error, the bytes read so far are still useful.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[derive(Debug, Clone)]
pub struct Found {
    pub pid: u32,
    pub command: String,
}

/// Finds the processes with exactly this HOME: the client, its shells, hooks and what they
/// detached. Each world has its own HOME, so other processes never match.
pub fn with_home(home: &Path) -> Vec<Found> {
    let wanted = format!("HOME={}", home.display());
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        environment.split(|byte| *byte == 0).find(|entry| *entry == wanted.as_bytes())?;
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        Some(Found { pid, command: command.trim_end().to_owned() })
    })
    .collect()
}

/// Kills all processes with this HOME until none is left, and returns those of the first search.
pub fn kill_with_home(home: &Path) -> Vec<Found> {
    let first = with_home(home);
    let mut found = first.clone();
    poll(Duration::from_secs(5), Duration::from_millis(10), || {
        for process in &found {
            // The process may have ended by itself.
            let _ = run(
                Command::new("kill").args(["-KILL", &process.pid.to_string()]),
                Duration::from_secs(5),
            );
        }
        found = with_home(home);
        found.is_empty().then_some(())
    });
    first
}
