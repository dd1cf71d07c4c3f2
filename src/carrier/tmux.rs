//! The client's tmux pane.

use serde::{Deserialize, Serialize};

use crate::boundary::Client;
use crate::env::Env;

/// Where the client's pane is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The server's socket, from `$TMUX`.
    pub socket: String,
    /// The pane's id, `%n`, from `$TMUX_PANE`.
    pub pane: String,
}

/// The client's own pane.
///
/// # Errors
/// Why it can't be used, in words for the user.
pub fn find(_env: &Env, _client: Client) -> Result<Place, String> {
    Err("not in a tmux pane (TMUX is not set)".to_owned())
}
