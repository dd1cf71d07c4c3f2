//! Presses keys through enigo, in a thread of its own, so that a hanging display blocks nothing
//! else.
#![allow(clippy::disallowed_methods, reason = "carriers look at the time")]

use std::fmt::Display;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use enigo::{Direction, Enigo, Key, Keyboard, Settings};

use crate::terminal::Refusal;

/// How long one key may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Keys that need Shift or `AltGr` get a temporary keycode. It must stay until the terminal has
/// read the event, because the terminal asks for its meaning only then.
const LINGER: Duration = Duration::from_millis(300);

/// After this long without a key, the keyboard layout is read again.
const FRESH: Duration = Duration::from_secs(2);

/// A thread that presses keys on a display.
pub struct Keys {
    ask: Option<Sender<(Key, Direction)>>,
    told: Receiver<Result<(), Refusal>>,
    started: Instant,
    last: Option<Instant>,
}

impl Keys {
    /// Connects enigo to a display.
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

    /// Whether the layout that was read may be out of date.
    pub fn stale(&self) -> bool {
        self.last.unwrap_or(self.started).elapsed() > FRESH
    }

    /// Presses, releases or clicks a key.
    pub fn send(&mut self, key: Key, direction: Direction) -> Result<(), Refusal> {
        let gone = || Refusal::later("keys can no longer be sent to the display");
        self.last = Some(Instant::now());
        self.ask.as_ref().ok_or_else(gone)?.send((key, direction)).map_err(|_| gone())?;
        let answer = self.answer();
        if answer.is_err() {
            // A late answer must not count for the next key. Ending the thread releases all keys.
            self.ask = None;
        }
        answer
    }

    /// Runs `inner` with a modifier held, and always releases it.
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
    Refusal::later(format!("keys cannot be sent to the display: {why}"))
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(last) = self.last {
            thread::sleep(LINGER.saturating_sub(last.elapsed()));
        }
        self.ask = None;
        // The thread releases held keys and its keycodes; its end closes the channel.
        while self.told.recv_timeout(PATIENCE).is_ok() {}
    }
}
