//! What the helper processes do that serve and read a selection of `$DISPLAY`.
#![allow(clippy::disallowed_methods, reason = "carriers look at the time")]

use std::time::{Duration, Instant};

use arboard::{Clipboard, Error, GetExtLinux, LinuxClipboardKind, SetExtLinux};

use super::selection::Which;

fn kind(which: Which) -> LinuxClipboardKind {
    match which {
        Which::Primary => LinuxClipboardKind::Primary,
        Which::Clipboard => LinuxClipboardKind::Clipboard,
    }
}

/// Serves a text until the deadline, or until somebody selects something else.
pub fn hold(which: Which, text: String, time: Duration) -> Result<(), Error> {
    let mut clipboard = Clipboard::new()?;
    let set = clipboard.set().clipboard(kind(which)).exclude_from_history();
    set.wait_until(Instant::now() + time).text(text)
}

/// The text of a selection; fails if there is none, or if its owner does not answer.
pub fn take(which: Which) -> Result<String, Error> {
    Clipboard::new()?.get().clipboard(kind(which)).text()
}
