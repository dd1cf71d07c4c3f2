//! Keys into the client's window, each after its proofs.

use std::thread::sleep;
use std::time::Duration;

use enigo::{Direction, Key};
use x11rb::protocol::xproto::KeyButMask;

use super::display::Display;
use super::keys::Keys;
use super::pty;
use super::window::Window;
use crate::carrier::terminal::{PromptBox, Refusal, Stroke, Terminal};

/// Between two looks at the idle lamp.
const LAMP: Duration = Duration::from_millis(100);

/// How long the client may take to read a paste.
const PASTE: Duration = Duration::from_secs(5);

impl Window {
    pub(super) fn keys(&mut self) -> Result<&mut Keys, Refusal> {
        if self.keys.as_ref().is_some_and(Keys::stale) {
            self.keys = None;
        }
        if self.keys.is_none() {
            self.keys = Some(Keys::start(&self.place.display)?);
        }
        self.keys.as_mut().ok_or_else(|| Refusal::later("the display takes no keys"))
    }

    fn stroke(&mut self, stroke: Stroke) -> Result<(), Refusal> {
        let key = Key::Unicode(stroke.key);
        let keys = self.keys()?;
        if stroke.ctrl {
            keys.held(Key::Control, |keys| keys.send(key, Direction::Click))
        } else {
            keys.send(key, Direction::Click)
        }
    }
}

impl Terminal for Window {
    fn prove(&mut self) -> Result<(), Refusal> {
        self.proven().map(drop)
    }

    fn idle(&mut self) -> Result<bool, Refusal> {
        self.alive()?;
        let id = self.window()?;
        let lamp = |display: &Display| Ok(display.title(id)?.starts_with('\u{2733}'));
        if !lamp(&self.display)? {
            return Ok(false);
        }
        sleep(LAMP);
        lamp(&self.display)
    }

    fn prompt_box(&mut self) -> Result<PromptBox, Refusal> {
        let screen = self.read_screen()?;
        Ok(super::readback::prompt_box(&screen))
    }

    fn chord(
        &mut self,
        strokes: &[Stroke],
        commit: &mut dyn FnMut() -> bool,
    ) -> Result<bool, Refusal> {
        self.proven()?;
        self.keys()?;
        for (k, stroke) in strokes.iter().enumerate() {
            if k > 0 {
                self.ready()?;
            }
            if k + 1 == strokes.len() {
                if !commit() {
                    return Ok(false);
                }
                self.ready()?;
            }
            self.stroke(*stroke)?;
        }
        Ok(true)
    }

    fn type_text(&mut self, text: &str) -> Result<(), Refusal> {
        if text.chars().any(|c| !(' '..='~').contains(&c) || c.is_ascii_uppercase()) {
            return Err(Refusal::never("only lower-case ASCII is typed as keys"));
        }
        self.proven()?;
        self.keys()?;
        for key in text.chars() {
            self.ready()?;
            if self.display.pointer()?.mask.contains(KeyButMask::LOCK) {
                return Err(Refusal::later("Caps Lock is on"));
            }
            self.stroke(Stroke { ctrl: false, key })?;
        }
        Ok(())
    }

    fn paste(&mut self, text: &str) -> Result<(), Refusal> {
        self.proven()?;
        self.keys()?;
        let read = |pid| {
            pty::bytes_read(pid).ok_or_else(|| Refusal::never("the client can't be looked at"))
        };
        let offer = self.offer(text)?;
        self.ready()?;
        let (pid, start) = (self.client.pid, read(self.client.pid)?);
        self.keys()?.held(Key::Shift, |keys| keys.send(Key::Insert, Direction::Click))?;
        // What the client has read tells that the terminal has fetched all of it.
        let wanted = start + text.len() as u64;
        let landed = self.wait(PASTE, |_| Ok((read(pid)? >= wanted).then_some(())))?;
        let kept = self.still_offered(offer)?;
        match (landed, kept) {
            (_, false) => Err(Refusal::later("the clipboard changed during the paste")),
            (None, true) => Err(Refusal::later("the terminal did not take the paste")),
            (Some(()), true) => Ok(()),
        }
    }

    fn notice(&mut self, _text: &str, _seconds: u64) {}
}
