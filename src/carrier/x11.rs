//! The client's X11 window.

use serde::{Deserialize, Serialize};

use crate::boundary::Client;
use crate::env::Env;

/// Where the client's window is. The window itself is found anew before keys are
/// sent: its id may be another's by then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// `$DISPLAY`.
    pub display: String,
    /// `$XAUTHORITY`.
    pub authority: Option<String>,
}

/// The client's own window.
///
/// # Errors
/// Why it can't be used, in words for the user.
pub fn find(_env: &Env, _client: Client) -> Result<Place, String> {
    Err("no X11 display (DISPLAY is not set)".to_owned())
}

/// x
pub struct Window;
impl Window {
    /// x
    pub fn open(_: Place, _: Client, _: u64) -> Result<Self, super::terminal::Refusal> {
        Err(super::terminal::Refusal::never("x"))
    }
}
use super::terminal::{PromptBox, Refusal, Stroke, Terminal};
impl Terminal for Window {
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
