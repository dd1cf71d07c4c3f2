//! Runs tmux commands, each with a timeout.
#![allow(clippy::disallowed_methods, reason = "carriers start and watch processes")]

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use base::process;
use tmux_interface::{Tmux, TmuxCommand, TmuxCommands};

/// How long a query may take.
pub const ASKED: Duration = Duration::from_secs(2);

/// How long an action may take: longer than the conditions of `conditions::guarded` hold, so that
/// no answer means no keys.
pub const ACTION_TIMEOUT: Duration = Duration::from_secs(3);

/// Why a command gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It could not be started.
    #[error("tmux can't be started: {0}")]
    Start(String),
    /// We killed it after the timeout.
    #[error("tmux does not answer")]
    Hung,
    /// The server is gone.
    #[error("the tmux server is gone: {0}")]
    Gone(String),
    /// It reported an error.
    #[error("tmux refused: {0}")]
    Refused(String),
}

/// A tmux server, addressed by its socket.
#[derive(Debug, Clone)]
pub struct Server {
    program: PathBuf,
    socket: String,
}

impl Server {
    /// The server at a socket; `program` is the tmux that asks it.
    pub fn new(program: PathBuf, socket: &str) -> Self {
        Self { program, socket: socket.to_owned() }
    }

    /// Runs commands in one go, and returns what they print.
    pub fn ask<'a>(
        &self,
        commands: impl IntoIterator<Item = TmuxCommand<'a>>,
        patience: Duration,
    ) -> Result<String, Fault> {
        let mut list = TmuxCommands::default();
        commands.into_iter().for_each(|command| list.push(command));
        // `-u`: in a locale other than UTF-8 tmux prints `_` for every non-ASCII character.
        let tmux = Tmux::new().force_utf8().socket_path(self.socket.as_str()).commands(list);
        let mut tmux = tmux.build();
        tmux.name(self.program.to_string_lossy());
        let mut command = tmux.to_command();
        // The socket is named, so the inherited variables must not count.
        command.env_remove("TMUX").env_remove("TMUX_PANE");
        run(command, patience)
    }
}

/// Runs a child to its end, for at most `patience`.
fn run(mut command: Command, patience: Duration) -> Result<String, Fault> {
    match process::output(&mut command, patience) {
        Ok(ended) if ended.status.success() => {
            Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
        }
        Ok(ended) => Err(refused(String::from_utf8_lossy(&ended.stderr).trim())),
        Err(e) if e.kind() == io::ErrorKind::TimedOut => Err(Fault::Hung),
        Err(e) => Err(Fault::Start(e.to_string())),
    }
}

/// The fault that tmux's error text means.
fn refused(words: &str) -> Fault {
    let gone = ["no server running", "error connecting", "lost server", "server exited"];
    if gone.iter().any(|word| words.contains(word)) {
        Fault::Gone(words.to_owned())
    } else {
        Fault::Refused(words.to_owned())
    }
}

/// Finds tmux on a search path.
pub fn program(path: Option<&OsStr>) -> Option<PathBuf> {
    process::on_path(path, "tmux")
}

/// Commands as one string for tmux's own parser.
pub fn script<'a>(commands: impl IntoIterator<Item = TmuxCommand<'a>>) -> String {
    let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
    let words = |command: TmuxCommand| {
        command.to_vec().iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    };
    commands.into_iter().map(words).collect::<Vec<_>>().join(" ; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_heard_and_ended_in_time() {
        let shell = |script: &str, patience| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            run(command, patience)
        };
        assert_eq!(shell("printf out; echo err >&2", ASKED).unwrap(), "out");
        assert_eq!(shell("echo no >&2; exit 1", ASKED), Err(Fault::Refused("no".into())));
        assert_eq!(shell("sleep 60; echo late", Duration::from_millis(50)), Err(Fault::Hung));
    }

    #[test]
    fn what_a_lost_server_says_is_known() {
        assert!(matches!(refused("no server running on /x"), Fault::Gone(_)));
        assert!(matches!(refused("error connecting to /x (No such file)"), Fault::Gone(_)));
        assert!(matches!(refused("can't find pane: %9"), Fault::Refused(_)));
    }

    #[test]
    fn words_are_quoted_for_the_parser() {
        let mut command = TmuxCommand::with_name("send-keys");
        command.push_param("it's;").push_param("");
        assert_eq!(
            script([command.clone(), command]),
            r"'send-keys' 'it'\''s;' '' ; 'send-keys' 'it'\''s;' ''"
        );
    }
}
