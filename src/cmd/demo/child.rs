//! Child processes of the demo. Each runs in its own process group with a time limit, and is killed
//! by its id after that.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// The most output that is read from a process.
const MAX_OUTPUT: u64 = 4 * 1024 * 1024;

/// Why a process gave no result; the demo ends there.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("could not start {}: {source}; `brain-guard install` puts it there", program.display())]
    NotStarted {
        /// The program that could not be started.
        program: PathBuf,
        source: io::Error,
    },
    /// It exceeded its time limit and was killed.
    #[error("{} {args} did not end within {:.1} s and was killed", program.display(), after.as_secs_f64())]
    TimedOut {
        program: PathBuf,
        args: String,
        /// How long the demo waited for it.
        after: Duration,
    },
    /// A system call failed in the demo itself.
    #[error("{what}: {source}")]
    System {
        /// What failed.
        what: String,
        source: io::Error,
    },
}

/// How to start a process.
#[derive(Debug)]
pub struct Start<'a> {
    pub program: &'a Path,
    pub args: &'a [String],
    pub env: &'a BTreeMap<String, String>,
    pub cwd: &'a Path,
    pub input: &'a str,
}

/// A process that has ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// A running process. Dropping it kills it.
#[derive(Debug)]
pub struct Running {
    child: Child,
    program: PathBuf,
    args: String,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
    begun: Instant,
    ended: bool,
}

impl Running {
    ///
    /// # Errors
    /// [`Fault::NotStarted`].
    pub fn start(what: &Start) -> Result<Self, Fault> {
        let mut child = Command::new(what.program)
            .args(what.args)
            .env_clear()
            .envs(what.env)
            .current_dir(what.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|source| Fault::NotStarted { program: what.program.to_path_buf(), source })?;
        if let Some(mut stdin) = child.stdin.take() {
            let input = what.input.to_owned();
            // Write from a thread: a program that reads nothing must not block the demo. Its pipe
            // closes with it.
            thread::spawn(move || stdin.write_all(input.as_bytes()));
        }
        let stdout = read(child.stdout.take());
        let stderr = read(child.stderr.take());
        Ok(Self {
            child,
            program: what.program.to_path_buf(),
            args: what.args.join(" "),
            stdout,
            stderr,
            begun: Instant::now(),
            ended: false,
        })
    }

    /// Waits for its end. Kills it after `deadline`.
    ///
    /// # Errors
    /// [`Fault::TimedOut`], [`Fault::System`].
    pub fn wait(mut self, deadline: Instant) -> Result<Ended, Fault> {
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        let stdout = self.stdout.recv_timeout(left(deadline));
        let stderr = self.stderr.recv_timeout(left(deadline));
        let status = loop {
            let ended = self.child.try_wait().map_err(|source| Fault::System {
                what: format!("could not wait for {}", self.program.display()),
                source,
            })?;
            if ended.is_some() || left(deadline).is_zero() {
                break ended;
            }
            thread::sleep(Duration::from_millis(1));
        };
        match (status, stdout, stderr) {
            (Some(status), Ok(stdout), Ok(stderr)) => {
                self.ended = true;
                Ok(Ended { status, stdout, stderr })
            }
            _ => Err(Fault::TimedOut {
                program: self.program.clone(),
                args: self.args.clone(),
                after: self.begun.elapsed(),
            }),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // The group may be gone already.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads a pipe to its end in a thread.
fn read(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            let _ = pipe.take(MAX_OUTPUT).read_to_end(&mut bytes);
        }
        // Nobody receives this after the wait is over.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, patience: Duration) -> Result<Ended, Fault> {
        let args = ["-c".to_owned(), script.to_owned()];
        let env = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let start = Start {
            program: Path::new("/bin/sh"),
            args: &args,
            env: &env,
            cwd: Path::new("/"),
            input: "hello",
        };
        Running::start(&start)?.wait(Instant::now() + patience)
    }

    #[test]
    fn input_output_and_code_come_through() {
        let ended = shell("cat; echo no >&2; exit 3", Duration::from_secs(10)).unwrap();
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("hello", "no\n"));
        assert_eq!(ended.status.code(), Some(3));
    }

    #[test]
    fn what_hangs_is_ended_with_all_it_started() {
        let begun = Instant::now();
        let fault = shell("sleep 60 & sleep 60", Duration::from_millis(200)).unwrap_err();
        assert!(matches!(fault, Fault::TimedOut { .. }), "{fault}");
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn what_is_not_there_is_named() {
        let env = BTreeMap::new();
        let start = Start {
            program: Path::new("/no/such"),
            args: &[],
            env: &env,
            cwd: Path::new("/"),
            input: "",
        };
        let said = Running::start(&start).unwrap_err().to_string();
        assert!(said.starts_with("could not start /no/such: "), "{said}");
    }
}
