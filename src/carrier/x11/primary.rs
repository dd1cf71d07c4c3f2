//! The PRIMARY selection, which Shift+Insert pastes: the user's is kept and given
//! back, ours is served by a process of its own with a deadline.
#![allow(clippy::disallowed_methods, reason = "carriers start processes and look at the time")]

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use arboard::{Clipboard, GetExtLinux, LinuxClipboardKind, SetExtLinux};
use x11rb::protocol::xproto::Window as Id;

use super::window::Window;
use crate::carrier::terminal::Refusal;

/// How long a selection's owner may take to hand out its text.
const TAKE: Duration = Duration::from_secs(2);

/// How long our process may take until it owns the selection.
const OWN: Duration = Duration::from_secs(2);

/// How long ours is served at most.
const OURS: u64 = 20;

/// How long the user's is served at most, once we took it from its owner.
const USERS: u64 = 600;

/// What became of the user's selection.
#[derive(Debug, Default)]
pub struct Primary {
    kept: Option<Kept>,
    holder: Option<Child>,
}

/// The user's selection, and the owner that we left in its place.
#[derive(Debug)]
struct Kept {
    text: Option<String>,
    left: Id,
}

/// Our text, offered by this owner.
#[derive(Debug, Clone, Copy)]
pub struct Offer(Id);

impl Window {
    fn helper(&self) -> Command {
        let mut command = Command::new(&self.options.program);
        command.arg("clipboard").env("DISPLAY", &self.place.display).stderr(Stdio::null());
        // arboard would look for a compositor first.
        command.env_remove("WAYLAND_DISPLAY");
        if let Some(authority) = &self.place.authority {
            command.env("XAUTHORITY", authority);
        }
        command
    }

    /// The text of the selection.
    pub(super) fn selected(&self) -> Result<String, Refusal> {
        let started = self.helper().arg("take").stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let failed = |e| Refusal::later(format!("no process could be started: {e}"));
        let mut child = started.map_err(failed)?;
        let mut pipe = child.stdout.take();
        let (tell, told) = mpsc::channel();
        thread::Builder::new()
            .spawn(move || {
                let mut bytes = Vec::new();
                let read = pipe.as_mut().map(|pipe| pipe.read_to_end(&mut bytes));
                drop(tell.send(read.is_some_and(|r| r.is_ok()).then_some(bytes)));
            })
            .map_err(failed)?;
        let bytes = told.recv_timeout(TAKE).ok().flatten();
        if bytes.is_none() {
            // Its owner doesn't answer; the process would wait longer than we do.
            let _ = child.kill();
        }
        let ended = child.wait().is_ok_and(|status| status.success());
        bytes.filter(|_| ended).and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| {
            Refusal::later("the selection (PRIMARY) holds something that could not be given back")
        })
    }

    /// Keeps what the user has selected, unless that is kept already.
    pub(super) fn keep_primary(&mut self) -> Result<(), Refusal> {
        let owner = self.display.primary_owner()?;
        if self.primary.kept.as_ref().is_some_and(|kept| kept.left == owner) {
            return Ok(());
        }
        let text = if owner == x11rb::NONE { None } else { Some(self.selected()?) };
        self.primary.kept = Some(Kept { text, left: owner });
        Ok(())
    }

    /// Remembers who owns the selection after what we did.
    pub(super) fn primary_left(&mut self, owner: Id) {
        if let Some(kept) = &mut self.primary.kept {
            kept.left = owner;
        }
    }

    /// Offers a text, proven to be what a paste would get.
    pub(super) fn offer(&mut self, text: &str) -> Result<Offer, Refusal> {
        self.keep_primary()?;
        self.end_holder();
        self.display.disown_primary()?;
        self.primary_left(x11rb::NONE);
        self.primary.holder = Some(self.serve(text, OURS)?);
        let end = Instant::now() + OWN;
        let owner = loop {
            let owner = self.display.primary_owner()?;
            if owner != x11rb::NONE {
                break owner;
            }
            if Instant::now() >= end {
                self.end_holder();
                return Err(Refusal::later("the clipboard could not be taken"));
            }
            thread::sleep(Duration::from_millis(3));
        };
        // Somebody else may have been faster; what is left then is theirs.
        let seen = self.selected();
        if !seen.is_ok_and(|seen| seen == text) || self.display.primary_owner()? != owner {
            self.end_holder();
            return Err(Refusal::later("the clipboard changed before the paste"));
        }
        self.primary_left(owner);
        Ok(Offer(owner))
    }

    /// Whether nobody took the selection from us; ends the offer.
    pub(super) fn still_offered(&mut self, offer: Offer) -> Result<bool, Refusal> {
        let kept = self.display.primary_owner()? == offer.0;
        self.end_holder();
        if kept {
            self.primary_left(x11rb::NONE);
        }
        Ok(kept)
    }

    fn serve(&self, text: &str, seconds: u64) -> Result<Child, Refusal> {
        let mut command = self.helper();
        command.args(["hold", "--seconds", &seconds.to_string()]);
        let failed = |e| Refusal::later(format!("the clipboard can't be served: {e}"));
        let started = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        let mut child = started.map_err(failed)?;
        let mut pipe = child.stdin.take();
        if let Some(pipe) = &mut pipe {
            pipe.write_all(text.as_bytes()).map_err(failed)?;
        }
        Ok(child)
    }

    fn end_holder(&mut self) {
        if let Some(mut child) = self.primary.holder.take() {
            let _ = child.kill();
            let _ = child.wait();
            // The server notices the closed connection in its own time.
            let end = Instant::now() + OWN;
            while let Ok(owner) = self.display.primary_owner()
                && owner != x11rb::NONE
                && self.primary.kept.as_ref().is_some_and(|kept| kept.left == owner)
                && Instant::now() < end
            {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// Gives the user's selection back, unless somebody selected anew meanwhile.
    pub(super) fn give_primary_back(&mut self) {
        self.end_holder();
        let Some(kept) = self.primary.kept.take() else { return };
        let Ok(owner) = self.display.primary_owner() else { return };
        if owner != kept.left && owner != x11rb::NONE {
            return;
        }
        // What can't be given back now is lost: there is nobody to tell.
        let _ = match &kept.text {
            Some(text) => self.serve(text, USERS).map(drop),
            None => self.display.disown_primary(),
        };
    }
}

/// Serves a text as the selection until the deadline, or until somebody selects
/// something else. `$DISPLAY` is the process's own.
///
/// # Errors
/// What the display says.
pub fn hold(text: String, time: Duration) -> Result<(), arboard::Error> {
    let set = Clipboard::new()?;
    let mut set = set;
    set.set()
        .clipboard(LinuxClipboardKind::Primary)
        .exclude_from_history()
        .wait_until(Instant::now() + time)
        .text(text)
}

/// The selection's text.
///
/// # Errors
/// There is none, or its owner doesn't answer.
pub fn take() -> Result<String, arboard::Error> {
    Clipboard::new()?.get().clipboard(LinuxClipboardKind::Primary).text()
}
