//! Sends keys to the client's window, each after its proofs.

use std::thread::sleep;
use std::time::Duration;

use enigo::{Direction, Key};
use x11rb::protocol::xproto::KeyButMask;

use super::display::Display;
use super::keys::Keys;
use super::pty;
use super::window::Window;
use crate::screen::Screen;
use crate::terminal::{PromptBox, Refusal, Stroke, Terminal};

/// Time between two looks at the idle mark in the title.
const LAMP: Duration = Duration::from_millis(100);

/// How long the client may take to read a paste.
const PASTE: Duration = Duration::from_secs(5);

/// The bits of a pointer's mask for the active keyboard layout. enigo presses the keys of the
/// first.
const SECOND_LAYOUT: u16 = 0x6000;

impl Window {
    pub(super) fn keys(&mut self) -> Result<&mut Keys, Refusal> {
        if self.keys.as_ref().is_some_and(Keys::stale) {
            self.keys = None;
        }
        if self.keys.is_none() {
            self.keys = Some(Keys::start(&self.place.display)?);
        }
        self.keys.as_mut().ok_or_else(|| Refusal::later("keys cannot be sent to the display"))
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

    /// Pastes the offered text, and waits until the client has read all of it.
    fn press_paste(&mut self, length: u64) -> Result<(), Refusal> {
        let pid = self.client.pid;
        let read = || {
            pty::bytes_read(pid)
                .ok_or_else(|| Refusal::never("the client's process cannot be inspected"))
        };
        self.ready()?;
        let wanted = read()? + length;
        self.keys()?.held(Key::Shift, |keys| keys.send(Key::Insert, Direction::Click))?;
        let landed = self.wait(PASTE, |_| Ok((read()? >= wanted).then_some(())))?;
        if !self.still_offered()? {
            return Err(Refusal::later("the clipboard changed during the paste"));
        }
        landed.ok_or_else(|| Refusal::later("the terminal did not take the paste"))
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
        Ok(Screen::read(&screen).prompt)
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
                self.free()?;
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
            let mask = self.display.pointer()?.mask;
            if mask.contains(KeyButMask::LOCK) {
                return Err(Refusal::later("Caps Lock is on"));
            }
            if u16::from(mask) & SECOND_LAYOUT != 0 {
                return Err(Refusal::later("the keyboard uses its second layout"));
            }
            self.stroke(Stroke { ctrl: false, key })?;
        }
        Ok(())
    }

    fn paste(&mut self, text: &str) -> Result<(), Refusal> {
        self.proven()?;
        self.keys()?;
        let done = self.offer(text).and_then(|()| self.press_paste(text.len() as u64));
        self.withdraw();
        done
    }

    fn notice(&mut self, _text: &str, _seconds: u64) {}
}
