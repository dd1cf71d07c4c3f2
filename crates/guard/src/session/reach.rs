//! The terminals around a client, as its own processes see them.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

/// A carrier's access to the client, or why it has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way<T> {
    /// It provably belongs to the client.
    Open(T),
    /// Why not.
    Shut(String),
}

impl<T> Way<T> {
    /// Wraps the result of a search.
    pub fn from_result(found: Result<T, impl Display>) -> Self {
        found.map_or_else(|why| Self::Shut(why.to_string()), Self::Open)
    }

    /// The access, if there is any.
    pub fn open(&self) -> Option<&T> {
        match self {
            Self::Open(place) => Some(place),
            Self::Shut(_) => None,
        }
    }
}

/// The terminals that were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// The tmux pane.
    pub tmux: Way<TmuxPane>,
    /// The X11 display.
    pub x11: Way<X11Display>,
}

/// The client's tmux pane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TmuxPane {
    /// The server's socket, from `$TMUX`.
    pub socket: String,
    /// The pane's id, `%n`, from `$TMUX_PANE`.
    pub pane: String,
}

/// The client's X11 display. The window is searched again before each key press, because its id may
/// be reused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct X11Display {
    /// `$DISPLAY`.
    pub display: String,
    /// `$XAUTHORITY`.
    pub authority: Option<String>,
}
