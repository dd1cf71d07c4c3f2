//! The user's keyboard: presses keys through XTEST, looked up in the current layout.

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ConnectionExt as _, GrabMode, GrabStatus, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt as _;

use super::Desktop;

const SHIFT: u32 = 0xffe1;
const CONTROL: u32 = 0xffe3;
const CAPS_LOCK: u32 = 0xffe5;

/// Holds a key down until it is dropped.
pub struct Held(Desktop, u8);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.fake(KEY_RELEASE_EVENT, self.1);
    }
}

/// A grab of the keyboard, as by a screen locker, until it is dropped.
pub struct Locked(Desktop);

impl Locked {
    /// The number of keys pressed during the grab since the last call.
    pub fn keys(&self) -> usize {
        let mut keys = 0;
        while let Ok(Some(event)) = self.0.x().poll_for_event() {
            keys += usize::from(matches!(event, Event::KeyPress(_)));
        }
        keys
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let x = self.0.x();
        let _ = x.ungrab_keyboard(x11rb::CURRENT_TIME);
        let _ = x.sync();
    }
}

/// Waits until the X server has processed all requests.
trait Sync {
    fn sync(&self) -> Result<(), x11rb::errors::ReplyError>;
}

impl Sync for x11rb::rust_connection::RustConnection {
    fn sync(&self) -> Result<(), x11rb::errors::ReplyError> {
        self.get_input_focus()?.reply().map(drop)
    }
}

impl Desktop {
    /// Types text into the focused window. A line break is ctrl+j, the client's key for it.
    pub fn type_text(&self, text: &str) {
        for c in text.chars() {
            match c {
                '\n' => self.stroke('j' as u32, true),
                // A Latin-1 keysym equals its character code.
                _ => self.stroke(c as u32, false),
            }
        }
    }

    /// Presses keys given by tmux names: `Enter`, `C-x C-s`.
    pub fn keys(&self, names: &str) {
        for name in names.split_whitespace() {
            let (name, control) = name.strip_prefix("C-").map_or((name, false), |key| (key, true));
            let keysym = match name {
                "Enter" => 0xff0d,
                "Escape" => 0xff1b,
                "BSpace" => 0xff08,
                "Down" => 0xff54,
                key => key.chars().next().map(u32::from).expect("a key has a name"),
            };
            self.stroke(keysym, control);
        }
    }

    pub fn hold_shift(&self) -> Held {
        let (code, _) = self.key(SHIFT);
        self.fake(KEY_PRESS_EVENT, code);
        Held(self.clone(), code)
    }

    /// Toggles Caps Lock.
    pub fn caps_lock(&self) {
        self.stroke(CAPS_LOCK, false);
    }

    /// Grabs the keyboard as a screen locker does; `None` if another program keeps it.
    pub fn lock(&self) -> Option<Locked> {
        let (x, root) = (self.x(), self.0.root);
        let taken = crate::support::process::poll(
            std::time::Duration::from_secs(5),
            std::time::Duration::from_millis(5),
            || {
                let now = x11rb::CURRENT_TIME;
                let asked = x.grab_keyboard(false, root, now, GrabMode::ASYNC, GrabMode::ASYNC);
                let reply = asked.ok()?.reply().ok()?;
                (reply.status == GrabStatus::SUCCESS).then_some(())
            },
        );
        taken.map(|()| Locked(self.clone()))
    }

    fn stroke(&self, keysym: u32, control: bool) {
        let (code, shifted) = self.key(keysym);
        let held = [(control, CONTROL), (shifted, SHIFT)];
        let held: Vec<u8> =
            held.iter().filter(|(wanted, _)| *wanted).map(|(_, sym)| self.key(*sym).0).collect();
        for code in &held {
            self.fake(KEY_PRESS_EVENT, *code);
        }
        self.fake(KEY_PRESS_EVENT, code);
        self.fake(KEY_RELEASE_EVENT, code);
        for code in held.iter().rev() {
            self.fake(KEY_RELEASE_EVENT, *code);
        }
    }

    fn fake(&self, kind: u8, code: u8) {
        let x = self.x();
        let _ = x.xtest_fake_input(kind, code, 0, self.0.root, 0, 0, 0);
        let _ = x.sync();
    }

    /// The key code of this keysym, and whether it needs Shift.
    fn key(&self, keysym: u32) -> (u8, bool) {
        let setup = self.x().setup();
        let (low, high) = (setup.min_keycode, setup.max_keycode);
        let asked = self.x().get_keyboard_mapping(low, high - low + 1).expect("the display lives");
        let mapping = asked.reply().expect("the display answers");
        let per = usize::from(mapping.keysyms_per_keycode);
        let find = |level: usize| {
            let mut codes = mapping.keysyms.chunks(per);
            codes.position(|syms| syms.get(level) == Some(&keysym)).map(|at| low + at as u8)
        };
        find(0)
            .map(|code| (code, false))
            .or_else(|| find(1).map(|code| (code, true)))
            .unwrap_or_else(|| panic!("no key gives {keysym:#x} in this layout"))
    }
}
