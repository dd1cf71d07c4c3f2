//! Opens windows in the tmux server that a command runs in.

use tmux_interface::NewWindow;

use super::refusal;
use super::server::{self, Server};
use crate::terminal::Refusal;
use base::env::Env;

/// The tmux server this process runs in.
#[derive(Debug)]
pub struct Opener {
    server: Server,
    /// The new window goes into this pane's session.
    pane: String,
}

impl Opener {
    /// Finds the server in the environment. The error says in words why there is none.
    pub fn find(env: &Env) -> Result<Self, Refusal> {
        let (Some(tmux), Some(pane)) = (env.get("TMUX"), env.get("TMUX_PANE")) else {
            return Err(Refusal::never("this does not run in tmux"));
        };
        let Some(program) = server::program(env.os("PATH").as_deref()) else {
            return Err(Refusal::never("tmux is not on the PATH"));
        };
        Ok(Self { server: Server::new(program, super::socket(&tmux)), pane })
    }

    /// Opens a window in the background that runs `words` in `folder` with one more variable,
    /// `NAME=value`. Returns its id.
    pub fn open(
        &self,
        name: &str,
        folder: &str,
        variable: Option<&str>,
        words: &[String],
    ) -> Result<String, Refusal> {
        // `session:` is the next free window of the session that contains the pane.
        let session = self
            .server
            .ask(
                [super::DisplayMessage::new()
                    .print()
                    .target_pane(self.pane.as_str())
                    .message("#{session_id}")
                    .build()],
                server::ASKED,
            )
            .map_err(|fault| refusal(&fault))?;
        let target = format!("{}:", session.trim());
        let mut window = NewWindow::new()
            .detached()
            .print()
            .format("#{window_id}")
            .start_directory(folder)
            .window_name(name)
            .target_window(target.as_str());
        if let Some(variable) = variable {
            window = window.environment(variable);
        }
        let command = command(words);
        let window = window.shell_command(command.as_str());
        let told = self.server.ask([window.build()], server::ACTION_TIMEOUT);
        told.map(|id| id.trim().to_owned()).map_err(|fault| refusal(&fault))
    }
}

/// Builds a shell command. `exec` makes the program itself the window's process.
fn command(words: &[String]) -> String {
    let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''")));
    std::iter::once("exec".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        let words = ["/a b/claude".to_owned(), "--resume".to_owned(), "it's".to_owned()];
        assert_eq!(command(&words), r"exec '/a b/claude' '--resume' 'it'\''s'");
    }
}
