//! A pane in a private tmux server on its own socket, and further panes of that server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::support::process::{self, Output};

/// Width and height of a terminal, in cells.
pub const SIZE: (u16, u16) = (160, 50);

/// Limit for one tmux command.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone, PartialEq, Eq)]
pub struct Tmux {
    socket: PathBuf,
    pane: String,
    /// Whether this is the server's first pane.
    first: bool,
}

impl Tmux {
    /// Starts `program` in the first pane of a new server. The server passes on its environment, so
    /// the program gets only `env` and tmux's own variables.
    pub fn start(
        socket: PathBuf,
        env: &BTreeMap<String, String>,
        folder: &Path,
        program: &[String],
    ) -> Self {
        let mut tmux = Self { socket, pane: String::new(), first: true };
        let (width, height) = (SIZE.0.to_string(), SIZE.1.to_string());
        let mut command = tmux.command();
        command.env_clear().envs(env).current_dir(folder);
        command.args(["start-server", ";", "set", "-g", "remain-on-exit", "on"]);
        command.args([";", "set", "-g", "status", "off"]);
        command.args([";", "new-session", "-d", "-P", "-F", "#{pane_id}"]);
        command.args(["-x", &width, "-y", &height, "-c"]).arg(folder).arg("--").args(program);
        tmux.pane = opened(&mut command);
        tmux
    }

    /// Starts `program` in a background window of the same server.
    pub fn beside(&self, folder: &Path, program: &[String]) -> Self {
        let mut command = self.command();
        command.args(["new-window", "-d", "-P", "-F", "#{pane_id}", "-c"]).arg(folder);
        command.arg("--").args(program);
        Self { socket: self.socket.clone(), pane: opened(&mut command), first: false }
    }

    /// All panes of this server, in order of creation.
    pub fn all(&self) -> Vec<Self> {
        let output = self.run(&["list-panes", "-a", "-F", "#{pane_id}"]).expect("tmux answers");
        let ids = output.stdout.lines().map(str::to_owned);
        ids.map(|pane| Self { first: self.first && pane == self.pane, pane, ..self.clone() })
            .collect()
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).args(["-f", "/dev/null"]);
        command
    }

    /// Runs a tmux command in which `{}` stands for this pane.
    pub fn run(&self, arguments: &[&str]) -> std::io::Result<Output> {
        let arguments =
            arguments.iter().map(|word| if *word == "{}" { self.pane.as_str() } else { word });
        process::run(self.command().args(arguments), PATIENCE)
    }

    /// Expands a tmux format; empty when the pane is gone.
    pub fn ask(&self, format: &str) -> String {
        let output = self.run(&["display-message", "-p", "-t", "{}", format]);
        output.map(|output| output.stdout.trim_end().to_owned()).unwrap_or_default()
    }

    /// The visible lines; empty when the pane is gone.
    pub fn screen(&self) -> String {
        let output = self.run(&["capture-pane", "-p", "-t", "{}"]);
        output.map(|output| output.stdout).unwrap_or_default()
    }

    /// Types text literally. tmux would take a trailing `;` for a command separator.
    pub fn type_text(&self, text: &str) {
        let text =
            text.strip_suffix(';').map_or_else(|| text.to_owned(), |head| format!("{head}\\;"));
        self.send(&["send-keys", "-t", "{}", "-l", "--", &text]);
    }

    /// Pastes a text, as the user does.
    pub fn paste(&self, text: &str) {
        self.send(&["set-buffer", "-b", "pasted", "--", text]);
        self.send(&["paste-buffer", "-p", "-d", "-b", "pasted", "-t", "{}"]);
    }

    /// Presses keys given by tmux names: `Enter`, `C-x C-s`.
    pub fn keys(&self, names: &str) {
        let head = ["send-keys", "-t", "{}"].into_iter();
        self.send(&head.chain(names.split_whitespace()).collect::<Vec<_>>());
    }

    fn send(&self, arguments: &[&str]) {
        let output = self.run(arguments).expect("tmux answers");
        assert!(output.status.success(), "tmux {arguments:?}: {}", output.stderr);
    }

    /// Ends the pane. Ending the first pane ends the server and everything in it.
    pub fn kill(&self) {
        let end = if self.first { &["kill-server"][..] } else { &["kill-pane", "-t", "{}"] };
        // It may have ended by itself.
        let _ = self.run(end);
    }
}

/// Runs a command that opens a pane, and returns the pane's id.
fn opened(command: &mut Command) -> String {
    let output = process::run(command, PATIENCE).expect("tmux is installed");
    assert!(output.status.success(), "tmux did not start: {}", output.stderr);
    output.stdout.trim().to_owned()
}
