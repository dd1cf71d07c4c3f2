//! Runs pi, which `tests/prepare` installs.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// Where `tests/prepare` puts the clients.
pub fn clients() -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients");
    std::env::var_os("BRAIN_GUARD_CLIENTS").map_or_else(default, PathBuf::from)
}

/// A version whose session manager can be loaded as a module; 0.73.1 is the last under this name.
pub struct Pi {
    package: PathBuf,
}

/// A session as pi reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// The messages of pi's context.
    pub messages: Value,
    /// The messages for the model.
    pub llm: Value,
    /// The rest: the leaf, the number of entries, the session's name.
    pub more: Value,
}

impl Pi {
    /// Finds this version; the error says why it is missing.
    pub fn of(version: &str) -> Result<Self, String> {
        let package = clients()
            .join(format!("pi-{version}"))
            .join("node_modules/@mariozechner/pi-coding-agent");
        if !package.is_dir() {
            return Err(format!("there is no {}: `./test` installs it", package.display()));
        }
        let node = Command::new("node").arg("--version").output();
        node.map(|_| Self { package }).map_err(|e| format!("there is no node: {e}"))
    }

    fn command(&self, verb: &str, paths: &[&Path]) -> Command {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/pi/pi.mjs");
        let mut command = Command::new("node");
        command.arg(script).arg(&self.package).arg(verb).args(paths);
        // pi must not use the settings and sessions of the user.
        command.env("HOME", "/nonexistent").env("PI_CODING_AGENT_DIR", "/nonexistent");
        command
    }

    /// Runs a verb of `pi.mjs` and returns its JSON output.
    pub fn ask(&self, verb: &str, paths: &[&Path]) -> Result<Value, String> {
        let output = self.command(verb, paths).output().map_err(|e| e.to_string())?;
        let said = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&said).map_err(|e| {
            format!("pi {verb}: {e}: {said}{}", String::from_utf8_lossy(&output.stderr))
        })
    }

    /// Reads a session's file by pi, which must not change the file.
    pub fn read(&self, file: &Path) -> Result<Read, String> {
        let mut all = self.ask("read", &[file])?;
        let mut more = all[0].take();
        if more["untouched"] != true {
            return Err(format!("pi wrote {}, or could not read it: {more}", file.display()));
        }
        Ok(Read { messages: more["messages"].take(), llm: more["llm"].take(), more })
    }

    /// Lets pi write a session into a folder.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, String> {
        let path = self.ask("write", &[folder])?;
        path.as_str().map(PathBuf::from).ok_or_else(|| format!("pi wrote {path}"))
    }

    /// Opens a session in a pi process that keeps running.
    pub fn hold(&self, file: &Path) -> Result<Held, String> {
        let mut command = self.command("hold", &[file]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|e| e.to_string())?;
        let out = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut held = Held { child, out };
        if held.line()? != "open" {
            return Err("pi did not open it".to_owned());
        }
        Ok(held)
    }
}

/// A pi process with an open session.
pub struct Held {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
}

impl Held {
    fn line(&mut self) -> Result<Value, String> {
        let mut line = String::new();
        self.out.read_line(&mut line).map_err(|e| e.to_string())?;
        serde_json::from_str(&line).map_err(|e| format!("{e}: {line}"))
    }

    /// Lets pi append to the session; returns the messages of its context.
    pub fn go_on(mut self) -> Result<Value, String> {
        let mut pipe = self.child.stdin.take().ok_or("no input")?;
        pipe.write_all(b"go on\n").map_err(|e| e.to_string())?;
        self.line()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
