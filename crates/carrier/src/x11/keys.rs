//! Keys, pressed through enigo. It runs in a thread of its own, so that a display
//! that stops answering stops nothing else.
#![allow(clippy::disallowed_methods, reason = "carriers look at the time")]

use std::fmt::Display;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use enigo::{Direction, Enigo, Key, Keyboard, Settings};

use crate::terminal::Refusal;

/// How long one key may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Keys that the layout has only behind Shift or `AltGr` get a keycode of their
/// own, which must stay until the terminal has read the event: it asks the
/// server for the keycode's meaning only then.
const LINGER: Duration = Duration::from_millis(300);

/// A keyboard layout that was read longer ago is read anew.
const FRESH: Duration = Duration::from_secs(2);

/// The keyboard.
pub struct Keys {
    ask: Option<Sender<(Key, Direction)>>,
    told: Receiver<Result<(), Refusal>>,
    started: Instant,
    last: Option<Instant>,
}

impl Keys {
    /// Connects enigo to a display.
    ///
    /// # Errors
    /// It can't send keys there.
    pub fn start(display: &str) -> Result<Self, Refusal> {
        let (ask, asked) = mpsc::channel::<(Key, Direction)>();
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
                for (key, direction) in asked {
                    let done = enigo.key(key, direction).map_err(|e| refused(&e));
                    if tell.send(done).is_err() {
                        return;
                    }
                }
            })
            .map_err(|e| Refusal::later(format!("no thread could be started: {e}")))?;
        let keys = Self { ask: Some(ask), told, started: Instant::now(), last: None };
        keys.answer()?;
        Ok(keys)
    }

    fn answer(&self) -> Result<(), Refusal> {
        let told = self.told.recv_timeout(PATIENCE);
        told.unwrap_or_else(|_| Err(refused(&"it does not answer")))
    }

    /// Whether the layout it knows may be out of date.
    pub fn stale(&self) -> bool {
        self.last.unwrap_or(self.started).elapsed() > FRESH
    }

    /// Presses, releases or clicks a key.
    ///
    /// # Errors
    /// The display doesn't take it.
    pub fn send(&mut self, key: Key, direction: Direction) -> Result<(), Refusal> {
        let gone = || Refusal::later("the display takes no keys any more");
        self.last = Some(Instant::now());
        self.ask.as_ref().ok_or_else(gone)?.send((key, direction)).map_err(|_| gone())?;
        let answer = self.answer();
        if answer.is_err() {
            // A late answer must not be taken for the next key's; what is held is let go at the thread's end.
            self.ask = None;
        }
        answer
    }

    /// Runs `inner` with a modifier held; it is released whatever happens.
    ///
    /// # Errors
    /// Those of `inner` first.
    pub fn held(
        &mut self,
        modifier: Key,
        inner: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        self.send(modifier, Direction::Press)?;
        let done = inner(self);
        let released = self.send(modifier, Direction::Release);
        done.and(released)
    }
}

fn refused(why: &dyn Display) -> Refusal {
    Refusal::later(format!("the display takes no keys: {why}"))
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(last) = self.last {
            thread::sleep(LINGER.saturating_sub(last.elapsed()));
        }
        self.ask = None;
        // The thread lets go of what is held and takes its keycodes back; its end closes the channel.
        while self.told.recv_timeout(PATIENCE).is_ok() {}
    }
}
