//! Presses keys through enigo, in a thread of its own, so that a hanging display blocks nothing
//! else.
#![allow(clippy::disallowed_methods, reason = "carriers look at the time")]

use std::fmt::Display;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use enigo::{Direction, Enigo, InputResult, Key, Keyboard, Settings};

use crate::terminal::Refusal;

/// How long one key may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Keys that need Shift or `AltGr` get a temporary keycode. It must stay until the terminal has
/// read the event, because the terminal asks for its meaning only then.
const LINGER: Duration = Duration::from_millis(300);

/// A key, and the modifier that is held while it is pressed.
type Press = (Option<Key>, Key);

/// A thread that presses keys on a display.
pub struct Keys {
    ask: Option<Sender<Press>>,
    told: Receiver<Result<(), Refusal>>,
}

impl Keys {
    /// Connects enigo to a display.
    pub fn start(display: &str) -> Result<Self, Refusal> {
        let (ask, asked) = mpsc::channel::<Press>();
        let (tell, told) = mpsc::channel();
        let settings = Settings {
            linux_delay: 0,
            x11_display: Some(display.to_owned()),
            ..Settings::default()
        };
        thread::Builder::new()
            .spawn(move || {
                let mut enigo = match Enigo::new(&settings) {
                    Ok(enigo) => enigo,
                    Err(e) => return drop(tell.send(Err(refused(&e)))),
                };
                let _ = tell.send(Ok(()));
                let mut pressed = false;
                for keys in asked {
                    pressed = true;
                    if tell.send(press(&mut enigo, keys).map_err(|e| refused(&e))).is_err() {
                        break;
                    }
                }
                if pressed {
                    thread::sleep(LINGER);
                }
            })
            .map_err(|e| Refusal::later(format!("no thread could be started: {e}")))?;
        let keys = Self { ask: Some(ask), told };
        keys.answer()?;
        Ok(keys)
    }

    fn answer(&self) -> Result<(), Refusal> {
        let told = self.told.recv_timeout(PATIENCE);
        told.unwrap_or_else(|_| Err(refused(&"it does not answer")))
    }

    /// Presses a key, with a modifier held if one is given.
    pub fn press(&mut self, modifier: Option<Key>, key: Key) -> Result<(), Refusal> {
        let gone = || Refusal::later("keys can no longer be sent to the display");
        self.ask.as_ref().ok_or_else(gone)?.send((modifier, key)).map_err(|_| gone())?;
        let answer = self.answer();
        if answer.is_err() {
            // A late answer must not count for the next key. Ending the thread releases all keys.
            self.ask = None;
        }
        answer
    }
}

fn press(enigo: &mut Enigo, (modifier, key): Press) -> InputResult<()> {
    let Some(modifier) = modifier else { return enigo.key(key, Direction::Click) };
    enigo.key(modifier, Direction::Press)?;
    let clicked = enigo.key(key, Direction::Click);
    clicked.and(enigo.key(modifier, Direction::Release))
}

fn refused(why: &dyn Display) -> Refusal {
    Refusal::later(format!("keys cannot be sent to the display: {why}"))
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.ask = None;
        // The thread releases held keys and its keycodes; its end closes the channel.
        while self.told.recv_timeout(PATIENCE).is_ok() {}
    }
}
