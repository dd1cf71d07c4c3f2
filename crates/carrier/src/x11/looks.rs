//! Queries and actions (except keys) on the X server. All fail if the display does not answer.

use std::time::Duration;

use x11rb::CURRENT_TIME;
use x11rb::protocol::screensaver::ConnectionExt as _;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask, GrabMode, GrabStatus, KeyButMask,
    Window as Id,
};
use x11rb::wrapper::ConnectionExt as _;

use super::display::Display;
use crate::terminal::Refusal;

/// The largest property that is read, in units of four bytes.
const PROPERTY: u32 = 16 * 1024;

/// A window that a window manager manages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Managed {
    pub id: Id,
    /// The process that it claims to belong to.
    pub pid: Option<u32>,
}

impl Display {
    /// The managed windows; fails if no window manager lists any. Without a manager, keys go where
    /// the pointer is.
    pub fn managed(&self) -> Result<Vec<Managed>, Refusal> {
        let ids = self.ids(self.root, self.atoms._NET_CLIENT_LIST)?;
        if ids.is_empty() {
            return Err(Refusal::later("no window manager lists the windows (_NET_CLIENT_LIST)"));
        }
        let pid = self.atoms._NET_WM_PID;
        self.ask(|conn| {
            let mut found = Vec::new();
            for id in ids {
                let asked = conn.get_property(false, id, pid, AtomEnum::ANY, 0, PROPERTY)?;
                // A window may be gone by now.
                let Ok(reply) = asked.reply() else { continue };
                found.push(Managed { id, pid: reply.value32().and_then(|mut v| v.next()) });
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
        let mut at = focus;
        // 0 and 1 are None and PointerRoot.
        while at > 1 && at != self.root {
            if at == window {
                return Ok(true);
            }
            at = self.ask(|conn| conn.query_tree(at)?.reply())?.parent;
        }
        Ok(false)
    }

    /// The modifiers and buttons that are held down.
    pub fn held(&self) -> Result<KeyButMask, Refusal> {
        Ok(self.ask(|conn| conn.query_pointer(self.root)?.reply())?.mask)
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
}
