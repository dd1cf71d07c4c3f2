//! `claude -p`: a child process whose output is read line by line.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::evidence::{Evidence, lock};
use crate::support::process::{self, DEADLINE, Output};
use crate::support::world::World;

/// The lines of one pipe so far, and a signal for each new line.
#[derive(Default)]
struct Lines {
    lines: Mutex<Vec<String>>,
    came: Condvar,
}

/// A headless run; dropping it kills the child.
pub struct Run {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Arc<Lines>,
    stderr: Arc<Lines>,
    readers: Vec<JoinHandle<()>>,
    evidence: Evidence,
}

impl Run {
    pub(crate) fn print(world: &World, arguments: &[&str], prompt: &str) -> Self {
        let mut run = Self::start(world, &[&["-p"], arguments, &["--", prompt]].concat());
        run.close_stdin();
        run
    }

    pub(crate) fn stream(world: &World, arguments: &[&str]) -> Self {
        let format =
            ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
        Self::start(world, &[&["-p"], &format[..], arguments].concat())
    }

    fn start(world: &World, arguments: &[&str]) -> Self {
        let mut command = world.command();
        command.args(world.plugin_arguments()).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the client starts");
        let (stdout, stderr) = (Arc::<Lines>::default(), Arc::<Lines>::default());
        let readers =
            vec![follow(child.stdout.take(), &stdout), follow(child.stderr.take(), &stderr)];
        for (name, pipe) in [("stdout", &stdout), ("stderr", &stderr)] {
            let pipe = Arc::clone(pipe);
            world.evidence.add(name, move || lock(&pipe.lines).join("\n"));
        }
        let stdin = child.stdin.take();
        Self { child, stdin, stdout, stderr, readers, evidence: world.evidence.clone() }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a user message to a stream-json run.
    pub fn say(&mut self, text: &str) {
        self.send(&json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    pub fn send(&mut self, line: &Value) {
        let stdin = self.stdin.as_mut().expect("stdin is still open");
        writeln!(stdin, "{line}").expect("the client reads its stdin");
    }

    /// Ends the input, so that a stream-json run finishes.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for a JSON line of stdout that `wanted` accepts; searches from the first line.
    #[track_caller]
    pub fn wait_json(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + DEADLINE;
        let mut lines = lock(&self.stdout.lines);
        let mut read = 0;
        loop {
            let parsed =
                lines[read..].iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            if let Some(found) = parsed.into_iter().find(|line| wanted(line)) {
                return found;
            }
            read = lines.len();
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(lines);
                self.evidence.fail(&format!("no {what} on stdout within {DEADLINE:?}"));
            }
            lines = self
                .stdout
                .came
                .wait_timeout(lines, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Waits until the client ends.
    #[track_caller]
    pub fn finish(mut self) -> Output {
        self.stdin = None;
        let waited =
            process::poll(DEADLINE, Duration::from_millis(5), || self.child.try_wait().transpose());
        let Some(status) = waited else {
            self.evidence.fail(&format!("the client still runs after {DEADLINE:?}"));
        };
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
        let text = |pipe: &Lines| lock(&pipe.lines).join("\n");
        Output {
            status: status.expect("own child"),
            stdout: text(&self.stdout),
            stderr: text(&self.stderr),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn follow(pipe: Option<impl Read + Send + 'static>, into: &Arc<Lines>) -> JoinHandle<()> {
    let into = Arc::clone(into);
    thread::spawn(move || {
        for line in
            pipe.into_iter().flat_map(|pipe| BufReader::new(pipe).lines()).map_while(Result::ok)
        {
            lock(&into.lines).push(line);
            into.came.notify_all();
        }
    })
}
