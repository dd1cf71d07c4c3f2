//! The client's window, and the proofs that keys sent now reach the client and nothing else.
#![allow(clippy::disallowed_methods, reason = "carriers look at the time")]

use std::cell::Cell;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::rc::Rc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use x11rb::protocol::xproto::{KeyButMask, Window as Id};

use super::display::Display;
use super::keys::Keys;
use super::own;
use super::pty::Pty;
use crate::terminal::Refusal;
use base::process;
use guard::boundary::Client;
use guard::client;
use guard::session::reach::X11Display;

/// How long a title written to the terminal may take to show on its window.
const TITLE: Duration = Duration::from_millis(500);

/// Saves the title on the terminal's title stack, and restores it from there.
const PUSH: &str = "\x1b[22;2t";
const POP: &str = "\x1b[23;2t";

/// How long a window may take to come to the front.
const RAISE: Duration = Duration::from_secs(1);

/// How often a condition is checked.
const GLANCE: Duration = Duration::from_millis(3);

/// The server counts our keys as the user's. Input up to this much later is still ours.
const OWN_KEY: Duration = Duration::from_millis(50);

/// How long nobody must have used keyboard or mouse before we check the keyboard. Somebody who types
/// leaves no such pause, and the check would take a letter from them.
const PAUSE: Duration = Duration::from_millis(500);

/// Settings of the X11 carrier.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long the user must have been idle before the focus may leave another window.
    pub idle: Duration,
    /// The keys pressed so far.
    pub touched: Touched,
}

/// The user's last input before our first key, and our last key. Windows that share it know each
/// other's keys.
pub type Touched = Rc<Cell<Option<(Instant, Instant)>>>;

/// The client's window.
pub struct Window {
    pub(super) display: Display,
    pub(super) place: X11Display,
    pub(super) options: Options,
    pub(super) client: Client,
    pty: Pty,
    /// The window that showed the last title we wrote.
    found: Option<Id>,
    /// The window that was in front before ours.
    before: Option<Id>,
    pub(super) keys: Option<Keys>,
}

impl Window {
    /// Connects to the display of a client's window. Fails if the client is gone.
    pub fn open(place: X11Display, client: Client, options: Options) -> Result<Self, Refusal> {
        let pty = Pty::for_process(client.pid)?;
        let display = Display::connect(&place.display)?;
        Ok(Self { display, place, options, client, pty, found: None, before: None, keys: None })
    }

    /// The window that shows the client's title; located if it is not known yet.
    pub(super) fn window(&mut self) -> Result<Id, Refusal> {
        self.found.map_or_else(|| self.locate(), Ok)
    }

    /// Proves which window shows this terminal, and that its tab is in front: a random title
    /// written to the terminal appears on that window.
    fn locate(&mut self) -> Result<Id, Refusal> {
        self.found = None;
        let ours = own(self.display.managed()?, &self.pty.holders(self.client.pid))?;
        let titles: Vec<(Id, String)> =
            ours.into_iter().filter_map(|id| Some((id, self.display.title(id).ok()?))).collect();
        // Restoring the saved title overwrites what the client writes meanwhile. An idle client
        // does not write its title again, so the mark of a turn would stay.
        if !titles.is_empty() && titles.iter().all(|(_, t)| t.starts_with(['\u{25d0}', '\u{25d1}']))
        {
            return Err(Refusal::later("a turn runs"));
        }
        let mark = format!("{:016x}", RandomState::new().build_hasher().finish());
        // The terminal's stack keeps the title; ours looks like the client's meanwhile.
        self.write(&format!("{PUSH}\x1b]2;\u{2733} Claude Code {mark}\x07"))?;
        let shown = self.wait(TITLE, |display| {
            let shows = |id: Id| display.title(id).is_ok_and(|title| title.contains(&mark));
            Ok(titles.iter().map(|(id, _)| *id).find(|id| shows(*id)))
        });
        let Some(id) = shown? else {
            self.write(POP)?;
            return Err(Refusal::later(
                "the terminal's title does not show on its window: another tab is in front, or the terminal shows no titles",
            ));
        };
        self.give_title_back(id, &mark, &titles)?;
        self.found = Some(id);
        Ok(id)
    }

    /// A terminal without a title stack gets its old title written. A title that the client has set
    /// meanwhile stays, because it says that a turn began.
    fn give_title_back(&self, id: Id, mark: &str, titles: &[(Id, String)]) -> Result<(), Refusal> {
        let gone = |display: &Display| Ok((!display.title(id)?.contains(mark)).then_some(()));
        if gone(&self.display)?.is_some() {
            return Ok(());
        }
        self.write(POP)?;
        if self.wait(TITLE / 5, gone)?.is_some() {
            return Ok(());
        }
        let old = titles.iter().find(|(w, _)| *w == id).map_or("", |(_, title)| title.as_str());
        let old: String = old.chars().filter(|c| !c.is_control()).collect();
        self.write(&format!("\x1b]2;{old}\x07"))?;
        self.wait(TITLE / 5, gone).map(drop)
    }

    fn write(&self, text: &str) -> Result<(), Refusal> {
        self.pty.write(text, TITLE).map_err(|e| {
            let words = format!("the client's terminal can't be written to: {e}");
            // A stopped terminal has room again once it continues.
            let full = e.kind() == std::io::ErrorKind::WouldBlock;
            if full { Refusal::Later(words) } else { Refusal::Never(words) }
        })
    }

    pub(super) fn wait<T>(
        &self,
        patience: Duration,
        mut wanted: impl FnMut(&Display) -> Result<Option<T>, Refusal>,
    ) -> Result<Option<T>, Refusal> {
        let end = Instant::now() + patience;
        loop {
            if let Some(found) = wanted(&self.display)? {
                return Ok(Some(found));
            }
            if Instant::now() >= end {
                return Ok(None);
            }
            sleep(GLANCE);
        }
    }

    pub(super) fn alive(&self) -> Result<(), Refusal> {
        if !client::alive(self.client) {
            return Err(Refusal::never("the client ended"));
        }
        if Pty::for_process(self.client.pid) != Ok(self.pty) {
            return Err(Refusal::never("the client moved to another terminal"));
        }
        if !process::is_in_foreground(self.client.pid) {
            return Err(Refusal::later("the client is not in its terminal's foreground"));
        }
        if client::gave_session_away(self.client) {
            return Err(Refusal::never("the session moved to the background of the client"));
        }
        Ok(())
    }

    /// Whether keys go to our window now.
    fn front(&self, id: Id) -> Result<bool, Refusal> {
        Ok(self.display.active()? == Some(id) && self.display.focused(id)?)
    }

    fn nothing_held(&self) -> Result<(), Refusal> {
        match held(self.display.held()?) {
            Some(what) => Err(Refusal::later(format!("{what} is held down"))),
            None => Ok(()),
        }
    }

    /// Checks that nothing is held down and no program has grabbed the keyboard. It may swallow a
    /// key of the user, so it does not run before each of ours, and not while they type.
    pub(super) fn free(&self) -> Result<(), Refusal> {
        self.nothing_held()?;
        if self.quiet()? < PAUSE {
            return Err(Refusal::later("somebody uses the keyboard or the mouse"));
        }
        if !self.display.keyboard_free()? {
            return Err(Refusal::later(
                "another program holds the keyboard: the screen is locked or a menu is open",
            ));
        }
        Ok(())
    }

    /// Brings the window to the front if nobody is at the display.
    fn raise(&mut self, id: Id) -> Result<(), Refusal> {
        if self.front(id)? {
            return Ok(());
        }
        let user = self.users_last_input()?;
        let quiet = user.elapsed();
        if quiet < self.options.idle {
            return Err(Refusal::later(format!(
                "another window has the focus and was used {} s ago",
                quiet.as_secs()
            )));
        }
        self.options.touched.set(Some((user, Instant::now())));
        let before = self.display.active()?;
        self.display.activate(id)?;
        if self.before.is_none() {
            self.before = before.filter(|w| *w != id);
        }
        let there = |display: &Display| {
            Ok((display.active()? == Some(id) && display.focused(id)?).then_some(()))
        };
        self.wait(RAISE, there)?.ok_or_else(|| {
            Refusal::later("the window can't be brought to the front: it may be on another desktop")
        })?;
        // Some window managers move the pointer.
        self.claim_input();
        Ok(())
    }

    /// Counts all input since the user's last one as ours.
    pub(super) fn claim_input(&self) {
        if let Some((user, _)) = self.options.touched.get() {
            self.options.touched.set(Some((user, Instant::now())));
        }
    }

    /// How long the user has been idle; our own keys do not count.
    pub(super) fn quiet(&self) -> Result<Duration, Refusal> {
        Ok(self.users_last_input()?.elapsed())
    }

    fn users_last_input(&self) -> Result<Instant, Refusal> {
        let now = Instant::now();
        let last = now.checked_sub(self.display.untouched()?).unwrap_or(now);
        Ok(match self.options.touched.get() {
            Some((before, own)) if last <= own + OWN_KEY => before,
            _ => last,
        })
    }

    /// Runs the cheap proofs, before each key.
    pub(super) fn ready(&mut self) -> Result<Id, Refusal> {
        self.alive()?;
        let id = self.window()?;
        if !self.front(id)? {
            return Err(Refusal::later("another window took the focus"));
        }
        self.nothing_held()?;
        self.options.touched.set(Some((self.users_last_input()?, Instant::now())));
        Ok(id)
    }

    /// Runs all proofs, and brings the window to the front.
    pub(super) fn proven(&mut self) -> Result<Id, Refusal> {
        self.alive()?;
        // Checked first: some terminals do not react while a button is down.
        self.free()?;
        let id = self.locate()?;
        self.raise(id)?;
        self.ready()
    }
}

/// What is held down, if anything. Num Lock and Caps Lock do not count.
fn held(mask: KeyButMask) -> Option<&'static str> {
    let button = KeyButMask::BUTTON1
        | KeyButMask::BUTTON2
        | KeyButMask::BUTTON3
        | KeyButMask::BUTTON4
        | KeyButMask::BUTTON5;
    [
        (KeyButMask::SHIFT, "Shift"),
        (KeyButMask::CONTROL, "Control"),
        (KeyButMask::MOD1, "Alt"),
        (KeyButMask::MOD4, "Super"),
        (KeyButMask::MOD5, "AltGr"),
        (button, "a button of the pointer"),
    ]
    .into_iter()
    .find_map(|(bits, name)| mask.intersects(bits).then_some(name))
}

impl Drop for Window {
    fn drop(&mut self) {
        self.keys = None;
        // Only while our window is still in front; otherwise the user has chosen another.
        if let (Some(before), Some(ours)) = (self.before, self.found)
            && self.display.active().is_ok_and(|active| active == Some(ours))
        {
            // Nothing more can be done about a window that is gone.
            let _ = self.display.activate(before);
        }
    }
}
