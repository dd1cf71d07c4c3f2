//! Takes the place of the X11 carrier on other systems than Linux, and says so.

use std::path::PathBuf;
use std::time::Duration;

use crate::terminal::{Refusal, Terminal};
use base::env::Env;
use guard::boundary::Client;
use guard::session::reach::X11Display;

fn refuse<T>() -> Result<T, Refusal> {
    Err(Refusal::never("the X11 carrier is in brain-guard for Linux only"))
}

/// Finds no window.
pub fn find(_: &Env, _: Client) -> Result<X11Display, Refusal> {
    refuse()
}

/// Opens no window.
pub fn open(
    _: X11Display,
    _: Client,
    _: Duration,
    _: PathBuf,
) -> Result<Box<dyn Terminal>, Refusal> {
    refuse()
}

/// Any selection.
#[derive(Debug, Clone, Copy)]
pub struct Which;

impl Which {
    /// Takes any name.
    pub fn of(_: &str) -> Option<Self> {
        Some(Self)
    }
}

/// Serves no text.
pub fn hold(_: Which, _: String, _: Duration) -> Result<(), Refusal> {
    refuse()
}

/// Finds no text.
pub fn take(_: Which) -> Result<String, Refusal> {
    refuse()
}
