//! The common operations of both kinds of terminal.

use super::{Tmux, Xterm};

#[derive(Clone)]
pub enum Terminal {
    Tmux(Tmux),
    Xterm(Xterm),
}

impl Terminal {
    /// The visible lines; empty when the pane is gone.
    pub fn screen(&self) -> String {
        match self {
            Self::Tmux(pane) => pane.screen(),
            Self::Xterm(window) => window.screen(),
        }
    }

    /// Types text as a user would.
    pub fn type_text(&self, text: &str) {
        match self {
            Self::Tmux(pane) => pane.type_text(text),
            Self::Xterm(window) => window.type_text(text),
        }
    }

    /// Presses keys given by tmux names: `Enter`, `C-x C-s`.
    pub fn keys(&self, names: &str) {
        match self {
            Self::Tmux(pane) => pane.keys(names),
            Self::Xterm(window) => window.keys(names),
        }
    }

    /// The process id of the pane's program, or of the xterm.
    pub fn pid(&self) -> Option<u32> {
        match self {
            Self::Tmux(pane) => pane.ask("#{pane_pid}").parse().ok(),
            Self::Xterm(window) => Some(window.pid()),
        }
    }

    /// Whether the program in it has ended.
    pub fn ended(&self) -> bool {
        match self {
            Self::Tmux(pane) => pane.ask("#{pane_dead}") != "0",
            Self::Xterm(window) => window.ended(),
        }
    }

    pub fn kill(&self) {
        match self {
            Self::Tmux(pane) => pane.kill(),
            Self::Xterm(window) => window.kill(),
        }
    }
}
