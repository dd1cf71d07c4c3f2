//! Takes the place of the X11 carrier on other systems than Linux, and says so.

use std::time::Duration;

use crate::terminal::{Refusal, Terminal};
use base::env::Env;
use guard::boundary::Client;
use guard::session::reach::X11Display;

/// Settings that nothing reads.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "as in `x11`")]
pub struct Options {
    pub idle: Duration,
    pub touched: Touched,
}

/// Keys that nobody presses.
pub type Touched = ();

fn refuse<T>() -> Result<T, Refusal> {
    Err(Refusal::never("the X11 carrier is in brain-guard for Linux only"))
}

/// Finds no window.
pub fn find(_: &Env, _: Client) -> Result<X11Display, Refusal> {
    refuse()
}

/// Opens no window.
pub fn open(_: X11Display, _: Client, _: Options) -> Result<Box<dyn Terminal>, Refusal> {
    refuse()
}
