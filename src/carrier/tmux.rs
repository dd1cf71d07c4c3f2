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

/// x
pub struct Pane;
impl Pane {
    /// x
    pub fn open(_: Place, _: Client) -> Result<Self, super::terminal::Refusal> {
        Err(super::terminal::Refusal::never("x"))
    }
}
use super::terminal::{PromptBox, Refusal, Stroke, Terminal};
impl Terminal for Pane {
    fn prove(&mut self) -> Result<(), Refusal> {
        Ok(())
    }
    fn idle(&mut self) -> Result<bool, Refusal> {
        Ok(true)
    }
    fn prompt_box(&mut self) -> Result<PromptBox, Refusal> {
        Ok(PromptBox::None)
    }
    fn chord(&mut self, _: &[Stroke], _: &mut dyn FnMut() -> bool) -> Result<bool, Refusal> {
        Ok(true)
    }
    fn type_text(&mut self, _: &str) -> Result<(), Refusal> {
        Ok(())
    }
    fn paste(&mut self, _: &str) -> Result<(), Refusal> {
        Ok(())
    }
    fn notice(&mut self, _: &str, _: u64) {}
}
