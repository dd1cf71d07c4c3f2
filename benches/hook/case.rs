//! A program with what it is given: started to be timed, or under a tool that counts.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program with what it is given.
#[derive(Debug, Clone)]
pub struct Case {
    /// What runs: the payload's name, or the program's.
    pub name: String,
    /// MB of transcript behind it; 0 where there is none.
    pub megabytes: u64,
    /// Whether the client's module lives, with a reading of this very call where it leaves one.
    pub module: bool,
    pub program: PathBuf,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub stdin: Vec<u8>,
    /// The same input as a file: how often a pipe is read depends on its writer.
    pub input: PathBuf,
    /// What must lie there before each run, since a run takes it away.
    pub lay: Option<(PathBuf, Vec<u8>)>,
}

impl Case {
    /// Another program in the same environment, without arguments: given one,
    /// `/bin/true` loads the messages of its locale.
    pub fn instead(&self, name: &str, program: &Path) -> Self {
        Self {
            name: name.into(),
            megabytes: 0,
            module: false,
            program: program.into(),
            args: Vec::new(),
            lay: None,
            ..self.clone()
        }
    }

    /// How a person tells it from the others.
    pub fn title(&self) -> String {
        let module = if self.module { ", mod" } else { "" };
        match self.megabytes {
            0 => self.name.clone(),
            n => format!("{}{module}, {n} MB", self.name),
        }
    }

    /// How the file of accepted counts names it, whatever the transcript.
    pub fn key(&self) -> String {
        format!("{}{}", self.name, if self.module { ", mod" } else { "" })
    }

    /// Lays what a run takes away.
    pub fn prepare(&self) {
        if let Some((path, bytes)) = &self.lay {
            fs::write(path, bytes).expect("what a run takes away");
        }
    }

    /// Starts it the way every case is started, and waits for its end.
    pub fn time(&self) -> Duration {
        self.prepare();
        let mut command = self.command(&self.program);
        command.args(&self.args).stdin(Stdio::piped());
        let begun = Instant::now();
        let mut child = command.spawn().expect("started");
        if let Some(mut pipe) = child.stdin.take() {
            // `/bin/true` may be gone before it was told anything.
            let _ = pipe.write_all(&self.stdin);
        }
        let status = child.wait().expect("ended");
        let taken = begun.elapsed();
        assert!(status.success(), "{} failed", self.title());
        taken
    }

    /// The program behind a tool and the tool's arguments, with what must lie there laid.
    pub fn under(&self, tool: &str, arguments: &[&str]) -> Command {
        self.prepare();
        let mut command = self.command(Path::new(tool));
        command.args(arguments).arg(&self.program).args(&self.args);
        command.stdin(File::open(&self.input).expect("input"));
        command
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(self.env.iter().map(|(k, v)| (k, v)))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }
}
