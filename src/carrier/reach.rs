//! The terminals around a client, as its own processes see them. The hooks look
//! once a session and at each seal, and keep it: only they have the client's
//! environment.

use serde::{Deserialize, Serialize};

use super::{tmux, x11};
use crate::boundary::Client;
use crate::env::Env;

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
    fn of(found: Result<T, String>) -> Self {
        found.map_or_else(Self::Shut, Self::Open)
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
    pub tmux: Way<tmux::Place>,
    /// The window.
    pub x11: Way<x11::Place>,
}

impl Reach {
    /// Looks around a client; takes some milliseconds, at most four seconds.
    pub fn look(env: &Env, client: Client) -> Self {
        Self { tmux: Way::of(tmux::find(env, client)), x11: Way::of(x11::find(env, client)) }
    }
}
