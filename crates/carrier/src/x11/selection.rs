//! Offers a text as the PRIMARY selection, which Shift+Insert pastes. A helper process serves it
//! through arboard, so that a hanging display blocks nothing else.
#![allow(clippy::disallowed_methods, reason = "carriers start processes and look at the time")]

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use arboard::{Clipboard, LinuxClipboardKind, SetExtLinux};
use x11rb::NONE;
use x11rb::protocol::xproto::{AtomEnum, Window as Id};

use super::window::Window;
use crate::terminal::Refusal;

/// How long the helper may take to own the selection.
const OWN: Duration = Duration::from_secs(2);

/// How long the helper serves the text at most.
const SERVED: Duration = Duration::from_secs(20);

/// The helper process that serves a text. Dropping it ends the offer.
pub(super) struct Offer {
    helper: Child,
    owner: Id,
}

impl Drop for Offer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.helper.kill();
        let _ = self.helper.wait();
    }
}

impl Window {
    /// Offers a text, in place of what was selected.
    pub(super) fn offer(&self, text: &str) -> Result<Offer, Refusal> {
        let failed = |e| Refusal::later(format!("the selection can't be served: {e}"));
        let primary = AtomEnum::PRIMARY.into();
        // Without an owner now, a new owner shows that the helper is ready.
        self.display.disown(primary)?;
        let mut command = Command::new(&self.options.program);
        command.arg("clipboard").env("DISPLAY", &self.place.display);
        if let Some(authority) = &self.place.authority {
            command.env("XAUTHORITY", authority);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut offer = Offer { helper: command.spawn().map_err(failed)?, owner: NONE };
        if let Some(mut pipe) = offer.helper.stdin.take() {
            pipe.write_all(text.as_bytes()).map_err(failed)?;
        }
        let owned = self.wait(OWN, |display| {
            Ok(Some(display.owner(primary)?).filter(|owner| *owner != NONE))
        })?;
        offer.owner = owned.ok_or_else(|| Refusal::later("the selection could not be taken"))?;
        Ok(offer)
    }

    /// Whether the selection is still ours.
    pub(super) fn offers(&self, offer: &Offer) -> Result<bool, Refusal> {
        Ok(self.display.owner(AtomEnum::PRIMARY.into())? == offer.owner)
    }
}

/// Serves a text as `$DISPLAY`'s PRIMARY selection until something else is selected, but not for
/// long. This is what the helper process does.
///
/// # Errors
/// The display can't be used.
pub fn serve(text: String) -> Result<(), arboard::Error> {
    let mut clipboard = Clipboard::new()?;
    let set = clipboard.set().clipboard(LinuxClipboardKind::Primary).exclude_from_history();
    set.wait_until(Instant::now() + SERVED).text(text)
}
