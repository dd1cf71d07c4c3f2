//! What the processes of our own do that serve and read a selection; `$DISPLAY`
//! is theirs.
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
///
/// # Errors
/// What the display says.
pub fn hold(which: Which, text: String, time: Duration) -> Result<(), Error> {
    let mut clipboard = Clipboard::new()?;
    let set = clipboard.set().clipboard(kind(which)).exclude_from_history();
    set.wait_until(Instant::now() + time).text(text)
}

/// A selection's text.
///
/// # Errors
/// There is none, or its owner doesn't answer.
pub fn take(which: Which) -> Result<String, Error> {
    Clipboard::new()?.get().clipboard(kind(which)).text()
}
