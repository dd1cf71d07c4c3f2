//! One pane in a tmux server of its own, on a socket of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::process::{self, Output};

/// Width and height of the pane, in cells.
pub const SIZE: (u16, u16) = (160, 50);

/// How long one tmux command may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The server; `kill` ends it.
#[derive(Clone)]
pub struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    /// Starts `program` in a pane. It gets this environment and tmux's own variables, nothing else: a server
    /// hands on what it was started with.
    pub fn start(
        socket: PathBuf,
        env: &BTreeMap<String, String>,
        folder: &Path,
        program: &[String],
    ) -> Self {
        let tmux = Self { socket };
        let (width, height) = (SIZE.0.to_string(), SIZE.1.to_string());
        let mut command = tmux.command();
        command.env_clear().envs(env).current_dir(folder);
        command.args([
            "start-server",
            ";",
            "set",
            "-g",
            "remain-on-exit",
            "on",
            ";",
            "set",
            "-g",
            "status",
            "off",
        ]);
        command
            .args([";", "new-session", "-d", "-x", &width, "-y", &height, "-c"])
            .arg(folder)
            .arg("--");
        command.args(program);
        let output = process::run(&mut command, PATIENCE).expect("tmux is installed");
        assert!(output.status.success(), "tmux did not start: {}", output.stderr);
        tmux
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).args(["-f", "/dev/null"]);
        command
    }

    fn run(&self, arguments: &[&str]) -> std::io::Result<Output> {
        process::run(self.command().args(arguments), PATIENCE)
    }

    /// What tmux answers to a format; empty when the server is gone.
    pub fn ask(&self, format: &str) -> String {
        let output = self.run(&["display-message", "-p", format]);
        output.map(|output| output.stdout.trim_end().to_owned()).unwrap_or_default()
    }

    /// The visible lines of the pane; empty when the server is gone.
    pub fn screen(&self) -> String {
        self.run(&["capture-pane", "-p"]).map(|output| output.stdout).unwrap_or_default()
    }

    /// Types text as it is. tmux would take a trailing `;` for its own separator.
    pub fn type_text(&self, text: &str) {
        let text =
            text.strip_suffix(';').map_or_else(|| text.to_owned(), |head| format!("{head}\\;"));
        self.send(&["send-keys", "-l", "--", &text]);
    }

    /// Presses keys by tmux's names for them, one after another: `Enter`, `C-x C-s`.
    pub fn keys(&self, names: &str) {
        self.send(&["send-keys"].into_iter().chain(names.split_whitespace()).collect::<Vec<_>>());
    }

    fn send(&self, arguments: &[&str]) {
        let output = self.run(arguments).expect("tmux answers");
        assert!(output.status.success(), "tmux {arguments:?}: {}", output.stderr);
    }

    /// Ends the server and what runs in it.
    pub fn kill(&self) {
        // It may have gone by itself.
        let _ = self.run(&["kill-server"]);
    }
}
