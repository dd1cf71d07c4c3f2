//! The terminals around a client, as its own processes see them.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

/// A carrier's way in, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way<T> {
    /// It was proven to be the client's.
    Open(T),
    /// Why not.
    Shut(String),
}

impl<T> Way<T> {
    /// By what a look found.
    pub fn of(found: Result<T, impl Display>) -> Self {
        found.map_or_else(|why| Self::Shut(why.to_string()), Self::Open)
    }

    /// The way in.
    pub fn open(&self) -> Option<&T> {
        match self {
            Self::Open(place) => Some(place),
            Self::Shut(_) => None,
        }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// The pane.
    pub tmux: Way<TmuxPane>,
    /// The window.
    pub x11: Way<X11Display>,
}

/// Where the client's pane is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TmuxPane {
    /// The server's socket, from `$TMUX`.
    pub socket: String,
    /// The pane's id, `%n`, from `$TMUX_PANE`.
    pub pane: String,
}

/// Where the client's window is. The window itself is found anew before keys are
/// sent: its id may be another's by then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct X11Display {
    /// `$DISPLAY`.
    pub display: String,
    /// `$XAUTHORITY`.
    pub authority: Option<String>,
}
