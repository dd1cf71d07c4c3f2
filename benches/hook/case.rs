//! A program with its input: started for timing, or under a counting tool.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program with its input.
#[derive(Debug, Clone)]
pub struct Case {
    /// The name of the payload or the program.
    pub name: String,
    /// MB of transcript; 0 for none.
    pub megabytes: u64,
    /// Whether the client's module runs, with its reading of this call if it leaves one.
    pub module: bool,
    pub program: PathBuf,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub stdin: Vec<u8>,
    /// The same input as a file, because the number of reads from a pipe depends on its writer.
    pub input: PathBuf,
    /// A file that must exist before each run, because a run removes it.
    pub lay: Option<(PathBuf, Vec<u8>)>,
}

impl Case {
    /// Another program in the same environment, without arguments, because with one `/bin/true`
    /// loads its locale.
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

    /// The title for people.
    pub fn title(&self) -> String {
        let module = if self.module { ", mod" } else { "" };
        match self.megabytes {
            0 => self.name.clone(),
            n => format!("{}{module}, {n} MB", self.name),
        }
    }

    /// The key in the file of accepted counts, the same for every transcript.
    pub fn key(&self) -> String {
        format!("{}{}", self.name, if self.module { ", mod" } else { "" })
    }

    /// Puts the file back that a run removes.
    pub fn prepare(&self) {
        if let Some((path, bytes)) = &self.lay {
            fs::write(path, bytes).expect("what a run takes away");
        }
    }

    /// Starts it like every case, and waits for its end.
    pub fn time(&self) -> Duration {
        self.prepare();
        let mut command = self.command(&self.program);
        command.args(&self.args).stdin(Stdio::piped());
        let begun = Instant::now();
        let mut child = command.spawn().expect("started");
        if let Some(mut pipe) = child.stdin.take() {
            // `/bin/true` may end before it reads anything.
            let _ = pipe.write_all(&self.stdin);
        }
        let status = child.wait().expect("ended");
        let taken = begun.elapsed();
        assert!(status.success(), "{} failed", self.title());
        taken
    }

    /// The program under a tool, with the tool's arguments, after [`Self::prepare`].
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
