//! Queries and actions (except keys) on the X server. All fail if the display does not answer.

use std::time::Duration;

use x11rb::protocol::screensaver::ConnectionExt as _;
use x11rb::protocol::xproto::{
    AtomEnum, BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ClientMessageEvent, ConnectionExt as _,
    EventMask, GrabMode, GrabStatus, KeyButMask, MOTION_NOTIFY_EVENT, Window as Id,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::wrapper::ConnectionExt as _;
use x11rb::{CURRENT_TIME, NONE};

use super::display::Display;
use super::selection::Which;
use crate::terminal::Refusal;

/// The largest property that is read, in units of four bytes.
const PROPERTY: u32 = 16 * 1024;

/// A window that a window manager manages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Managed {
    pub id: Id,
    /// The process that it claims to belong to.
    pub pid: Option<u32>,
    /// The host that process runs on.
    pub machine: Option<String>,
}

/// Where the pointer is, and what is held down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pointer {
    /// Position on the root window, in pixels.
    pub at: (i16, i16),
    /// Modifiers and buttons.
    pub mask: KeyButMask,
}

impl Display {
    /// Proves that a window manager runs: without one, keys go where the pointer is.
    pub fn manager(&self) -> Result<(), Refusal> {
        let check = self.atoms._NET_SUPPORTING_WM_CHECK;
        let named = self.ids(self.root, check)?.first().copied();
        // A manager that ended leaves its property on the root, but not the window it names.
        let alive = named.is_some_and(|w| self.ids(w, check).is_ok_and(|ids| ids == [w]));
        if !alive {
            return Err(Refusal::later("no window manager is at work on the display"));
        }
        Ok(())
    }

    /// The managed windows; fails if the manager lists none.
    pub fn managed(&self) -> Result<Vec<Managed>, Refusal> {
        let ids = self.ids(self.root, self.atoms._NET_CLIENT_LIST)?;
        if ids.is_empty() {
            return Err(Refusal::later("the window manager lists no windows (_NET_CLIENT_LIST)"));
        }
        let (pid, machine) = (self.atoms._NET_WM_PID, self.atoms.WM_CLIENT_MACHINE);
        self.ask(|conn| {
            let ask = |id, atom| conn.get_property(false, id, atom, AtomEnum::ANY, 0, PROPERTY);
            let mut asked = Vec::new();
            for id in ids {
                asked.push((id, ask(id, pid)?, ask(id, machine)?));
            }
            let mut found = Vec::new();
            for (id, pid, machine) in asked {
                // A window may be gone by now.
                let (Ok(pid), Ok(machine)) = (pid.reply(), machine.reply()) else { continue };
                let pid = pid.value32().and_then(|mut v| v.next());
                let machine = String::from_utf8(machine.value).ok().filter(|m| !m.is_empty());
                let machine = machine.map(|m| m.trim_end_matches('\0').to_owned());
                found.push(Managed { id, pid, machine });
            }
            Ok(found)
        })
    }

    fn ids(&self, window: Id, atom: u32) -> Result<Vec<Id>, Refusal> {
        self.ask(|conn| {
            let kind = AtomEnum::WINDOW;
            let reply = conn.get_property(false, window, atom, kind, 0, PROPERTY)?.reply()?;
            Ok(reply.value32().map(Iterator::collect).unwrap_or_default())
        })
    }

    pub fn title(&self, window: Id) -> Result<String, Refusal> {
        let ask = |atom| {
            self.ask(|conn| {
                conn.get_property(false, window, atom, AtomEnum::ANY, 0, PROPERTY)?.reply()
            })
        };
        let mut title = ask(self.atoms._NET_WM_NAME)?.value;
        if title.is_empty() {
            title = ask(AtomEnum::WM_NAME.into())?.value;
        }
        Ok(String::from_utf8_lossy(&title).into_owned())
    }

    /// The window that the manager says is active.
    pub fn active(&self) -> Result<Option<Id>, Refusal> {
        Ok(self.ids(self.root, self.atoms._NET_ACTIVE_WINDOW)?.first().copied().filter(|w| *w != 0))
    }

    /// Whether keys go to a window or to one inside it.
    pub fn focused(&self, window: Id) -> Result<bool, Refusal> {
        let focus = self.ask(|conn| conn.get_input_focus()?.reply())?.focus;
        // 0 and 1 are None and PointerRoot.
        Ok(focus > 1 && self.inside(focus, window)?)
    }

    /// Whether `inner` is `outer` or one of its descendants.
    pub fn inside(&self, inner: Id, outer: Id) -> Result<bool, Refusal> {
        let mut at = inner;
        while at != outer {
            if at == self.root || at == NONE {
                return Ok(false);
            }
            at = self.ask(|conn| conn.query_tree(at)?.reply())?.parent;
        }
        Ok(true)
    }

    pub fn pointer(&self) -> Result<Pointer, Refusal> {
        let seen = self.ask(|conn| conn.query_pointer(self.root)?.reply())?;
        Ok(Pointer { at: (seen.root_x, seen.root_y), mask: seen.mask })
    }

    /// Whether no program has grabbed the keyboard (a locked screen, an open menu). Grabs it for a
    /// moment.
    pub fn keyboard_free(&self) -> Result<bool, Refusal> {
        self.ask(|conn| {
            let (mode, root) = (GrabMode::ASYNC, self.root);
            let reply = conn.grab_keyboard(false, root, CURRENT_TIME, mode, mode)?.reply()?;
            if reply.status == GrabStatus::SUCCESS {
                conn.ungrab_keyboard(CURRENT_TIME)?;
                conn.sync()?;
            }
            Ok(reply.status == GrabStatus::SUCCESS)
        })
    }

    /// Time since the last key or move of the pointer.
    pub fn untouched(&self) -> Result<Duration, Refusal> {
        let info = self.ask(|conn| conn.screensaver_query_info(self.root)?.reply())?;
        Ok(Duration::from_millis(info.ms_since_user_input.into()))
    }

    /// Asks the manager to bring a window to the front.
    pub fn activate(&self, window: Id) -> Result<(), Refusal> {
        // Source 2 is a pager: it acts for the user, so no focus-stealing prevention applies.
        let data = [2, CURRENT_TIME, 0, 0, 0];
        let message = ClientMessageEvent::new(32, window, self.atoms._NET_ACTIVE_WINDOW, data);
        let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        self.ask(|conn| {
            conn.send_event(false, self.root, mask, message)?;
            conn.sync()?;
            Ok(())
        })
    }

    fn name(&self, which: Which) -> u32 {
        match which {
            Which::Primary => AtomEnum::PRIMARY.into(),
            Which::Clipboard => self.atoms.CLIPBOARD,
        }
    }

    /// The owner of a selection; `NONE` if it has none.
    pub fn owner(&self, which: Which) -> Result<Id, Refusal> {
        Ok(self.ask(|conn| conn.get_selection_owner(self.name(which))?.reply())?.owner)
    }

    /// Takes a selection from its owner, so that nobody owns it.
    pub fn disown(&self, which: Which) -> Result<(), Refusal> {
        self.ask(|conn| {
            conn.set_selection_owner(NONE, self.name(which), CURRENT_TIME)?;
            conn.sync()?;
            Ok(())
        })
    }

    /// A window's place on the root window: x, y, width, height. Fails if it is too large.
    pub fn area(&self, window: Id) -> Result<(i16, i16, i16, i16), Refusal> {
        let (at, size) = self.ask(|conn| {
            let at = conn.translate_coordinates(window, self.root, 0, 0)?;
            let size = conn.get_geometry(window)?;
            Ok((at.reply()?, size.reply()?))
        })?;
        let fits = |n: u16| {
            i16::try_from(n).map_err(|_| Refusal::later("the window is too large to be read"))
        };
        Ok((at.dst_x, at.dst_y, fits(size.width)?, fits(size.height)?))
    }

    /// Whether a window is the visible one at a point of the root window.
    pub fn covers(&self, window: Id, (x, y): (i16, i16)) -> Result<bool, Refusal> {
        let top =
            self.ask(|conn| conn.translate_coordinates(self.root, self.root, x, y)?.reply())?;
        // The manager's frame surrounds the window.
        Ok(top.child != NONE && self.inside(window, top.child)?)
    }

    pub fn move_pointer(&self, (x, y): (i16, i16)) -> Result<(), Refusal> {
        self.fake(MOTION_NOTIFY_EVENT, 0, x, y)
    }

    /// Presses or releases the pointer's first button.
    pub fn press_pointer(&self, down: bool) -> Result<(), Refusal> {
        self.fake(if down { BUTTON_PRESS_EVENT } else { BUTTON_RELEASE_EVENT }, 1, 0, 0)
    }

    fn fake(&self, event: u8, detail: u8, x: i16, y: i16) -> Result<(), Refusal> {
        self.ask(|conn| {
            conn.xtest_fake_input(event, detail, CURRENT_TIME, self.root, x, y, 0)?;
            conn.sync()?;
            Ok(())
        })
    }
}
