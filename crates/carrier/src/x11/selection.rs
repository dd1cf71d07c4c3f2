//! The selections that a terminal pastes: PRIMARY, and in some terminals and settings CLIPBOARD.
//! The user's are saved and restored; helper processes with a deadline serve ours.
#![allow(clippy::disallowed_methods, reason = "carriers start processes and look at the time")]

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use x11rb::NONE;

use super::kept::{Kept, Slot};
use super::window::Window;
use crate::terminal::Refusal;

/// How long a selection's owner may take to hand out its text.
const TAKE: Duration = Duration::from_secs(2);

/// The largest selection that is saved, in bytes.
const KEPT: u64 = 8 * 1024 * 1024;

/// How long our helper may take to own the selection, or to release it.
const OWN: Duration = Duration::from_secs(2);

/// How long our text is served at most, in seconds.
const OURS: u64 = 20;

/// How long the user's text is served at most after it is restored, in seconds.
const USERS: u64 = 600;

/// How often a condition is checked.
const GLANCE: Duration = Duration::from_millis(2);

/// An X selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The text marked with the pointer.
    Primary,
    /// The text that was copied.
    Clipboard,
}

pub(super) const BOTH: [Which; 2] = [Which::Primary, Which::Clipboard];

impl Which {
    /// The name on our command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Clipboard => "clipboard",
        }
    }

    /// The selection with this name.
    pub fn of(name: &str) -> Option<Self> {
        BOTH.into_iter().find(|which| which.name() == name)
    }
}

impl Window {
    fn slot(&mut self, which: Which) -> &mut Slot {
        &mut self.selections.slots[which as usize]
    }

    fn helper(&self, verb: &str, which: Which) -> Command {
        let mut command = Command::new(&self.options.program);
        command.args(["clipboard", verb, which.name()]).stderr(Stdio::null());
        command.env("DISPLAY", &self.place.display);
        if let Some(authority) = &self.place.authority {
            command.env("XAUTHORITY", authority);
        }
        command
    }

    /// The text of a selection, read by a helper process.
    pub(super) fn selected(&self, which: Which) -> Result<String, Refusal> {
        let failed = |e| Refusal::later(format!("no process could be started: {e}"));
        let mut helper = self.helper("take", which);
        let mut child =
            helper.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let pipe = child.stdout.take();
        let (tell, told) = mpsc::channel();
        thread::Builder::new()
            .spawn(move || {
                let mut bytes = Vec::new();
                let read = pipe.map(|pipe| pipe.take(KEPT + 1).read_to_end(&mut bytes));
                drop(tell.send(read.is_some_and(|r| r.is_ok()).then_some(bytes)));
            })
            .map_err(failed)?;
        let bytes = told.recv_timeout(TAKE).ok().flatten();
        let bytes = bytes.filter(|bytes| bytes.len() as u64 <= KEPT);
        if bytes.is_none() {
            // Its owner does not answer; the helper would wait longer than we do.
            let _ = child.kill();
        }
        let ended = child.wait().is_ok_and(|status| status.success());
        bytes.filter(|_| ended).and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| {
            let name = which.name();
            Refusal::later(format!("the {name} selection holds something that can't be given back"))
        })
    }

    /// Saves the user's selection, unless it is saved already. Fails if it is no text, or if its
    /// owner does not answer.
    pub(super) fn keep_selection(&mut self, which: Which) -> Result<(), Refusal> {
        let owner = self.display.owner(which)?;
        if self.slot(which).kept.as_ref().is_some_and(|kept| kept.left == owner) {
            return Ok(());
        }
        let text = if owner == NONE { None } else { Some(self.selected(which)?) };
        self.slot(which).kept = Some(Kept { text, left: owner });
        Ok(())
    }

    /// Leaves a saved selection without an owner until it is restored.
    pub(super) fn empty_selection(&mut self, which: Which) -> Result<(), Refusal> {
        self.end_holder(which);
        self.display.disown(which)?;
        if let Some(kept) = &mut self.slot(which).kept {
            kept.left = NONE;
        }
        Ok(())
    }

    /// Offers a text, and proves that a paste gets it. A CLIPBOARD that cannot be saved is left
    /// alone, because most terminals do not paste it.
    pub(super) fn offer(&mut self, text: &str) -> Result<(), Refusal> {
        self.keep_selection(Which::Primary)?;
        self.offer_one(Which::Primary, text)?;
        if self.keep_selection(Which::Clipboard).is_ok() {
            self.offer_one(Which::Clipboard, text)?;
        }
        Ok(())
    }

    fn offer_one(&mut self, which: Which, text: &str) -> Result<(), Refusal> {
        self.empty_selection(which)?;
        let child = self.serve(which, text, OURS)?;
        self.slot(which).holder = Some((child, NONE));
        let end = Instant::now() + OWN;
        let owner = loop {
            let owner = self.display.owner(which)?;
            if owner != NONE {
                break owner;
            }
            if Instant::now() >= end {
                return Err(Refusal::later("the clipboard could not be taken"));
            }
            thread::sleep(GLANCE);
        };
        // Somebody else may have been faster.
        let seen = self.selected(which);
        if !seen.is_ok_and(|seen| seen == text) || self.display.owner(which)? != owner {
            return Err(Refusal::later("the clipboard changed before the paste"));
        }
        let slot = self.slot(which);
        if let Some((_, own)) = &mut slot.holder {
            *own = owner;
        }
        if let Some(kept) = &mut slot.kept {
            kept.left = owner;
        }
        Ok(())
    }

    /// Whether we still own the selections that we offered.
    pub(super) fn still_offered(&self) -> Result<bool, Refusal> {
        for which in BOTH {
            if let Some((_, own)) = &self.selections.slots[which as usize].holder
                && self.display.owner(which)? != *own
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Ends our offers; dropping the window restores the user's selections.
    pub(super) fn withdraw(&mut self) {
        for which in BOTH {
            self.end_holder(which);
        }
    }

    fn serve(&self, which: Which, text: &str, seconds: u64) -> Result<Child, Refusal> {
        let mut command = self.helper("hold", which);
        command.args(["--seconds", &seconds.to_string()]);
        let failed = |e| Refusal::later(format!("the clipboard can't be served: {e}"));
        let started = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        let mut child = started.map_err(failed)?;
        if let Some(mut pipe) = child.stdin.take() {
            pipe.write_all(text.as_bytes()).map_err(failed)?;
        }
        Ok(child)
    }

    fn end_holder(&mut self, which: Which) {
        let Some((mut child, own)) = self.slot(which).holder.take() else { return };
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
        // The server may notice the closed connection late.
        let end = Instant::now() + OWN;
        while own != NONE
            && self.display.owner(which).is_ok_and(|owner| owner == own)
            && Instant::now() < end
        {
            thread::sleep(GLANCE);
        }
        if let Some(kept) = &mut self.slot(which).kept
            && kept.left == own
        {
            kept.left = NONE;
        }
    }

    /// Restores the user's selections, unless somebody selected something new.
    pub(super) fn give_selections_back(&mut self) {
        self.withdraw();
        for which in BOTH {
            let Some(kept) = self.slot(which).kept.take() else { continue };
            // We left it without an owner, and it still has none.
            let nobodys = kept.left == NONE && self.display.owner(which) == Ok(NONE);
            if let Some(text) = kept.text.filter(|_| nobodys) {
                // On failure the text is lost, and there is nobody to tell.
                let _ = self.serve(which, &text, USERS);
            }
        }
    }
}
