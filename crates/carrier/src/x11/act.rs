//! Sends keys to the client's window, each after its proofs.

use std::thread::sleep;
use std::time::Duration;

use enigo::Key;

use super::display::Display;
use super::keys::Keys;
use super::window::Window;
use crate::terminal::{Refusal, Stroke, Terminal};

/// Time between two looks at the idle mark in the title.
const LAMP: Duration = Duration::from_millis(100);

impl Window {
    fn keys(&mut self) -> Result<&mut Keys, Refusal> {
        if self.keys.is_none() {
            self.keys = Some(Keys::start(&self.place.display)?);
        }
        self.keys.as_mut().ok_or_else(|| Refusal::later("keys cannot be sent to the display"))
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
                self.free()?;
                if !commit() {
                    return Ok(false);
                }
                self.ready()?;
            }
            let modifier = stroke.ctrl.then_some(Key::Control);
            self.keys()?.press(modifier, Key::Unicode(stroke.key))?;
            self.claim_input();
        }
        Ok(true)
    }
}
