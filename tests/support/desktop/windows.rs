//! Finds and activates windows, and opens a window that counts keys that were not meant for it.

use std::time::Duration;

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask, PropMode, Window,
    WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::Desktop;
use crate::support::process;

/// Limit for a window to appear or to get the focus.
const PATIENCE: Duration = Duration::from_secs(10);

impl Desktop {
    pub fn window(&self, pid: u32) -> Window {
        let found = process::poll(PATIENCE, Duration::from_millis(10), || {
            let all = self.property(self.0.root, "_NET_CLIENT_LIST");
            all.into_iter().find(|window| self.property(*window, "_NET_WM_PID") == [pid])
        });
        found.unwrap_or_else(|| panic!("process {pid} opened no window"))
    }

    /// Brings a window to the front as a task bar does, and waits until it has the focus.
    pub fn activate(&self, window: Window) {
        let came = process::poll(PATIENCE, Duration::from_millis(5), || {
            if self.focused() == Some(window) {
                return Some(());
            }
            let data = [2, x11rb::CURRENT_TIME, 0, 0, 0];
            let event = ClientMessageEvent::new(32, window, self.atom("_NET_ACTIVE_WINDOW"), data);
            let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
            let _ = self.x().send_event(false, self.0.root, mask, event);
            let _ = self.x().flush();
            None
        });
        came.unwrap_or_else(|| panic!("window {window:#x} does not come to the front"));
    }

    /// The managed window that has the focus.
    pub fn focused(&self) -> Option<Window> {
        let focus = self.x().get_input_focus().ok()?.reply().ok()?.focus;
        let active = self.window_of(self.0.root, "_NET_ACTIVE_WINDOW")?;
        let mut at = focus;
        // The focus may be on a child of the managed window.
        while at > 1 && at != active {
            at = self.x().query_tree(at).ok()?.reply().ok()?.parent;
        }
        (at == active).then_some(active)
    }

    /// Opens a window with the process id and title of another, like the second window of a
    /// single-process terminal. It counts the keys it gets.
    pub fn twin(&self, of: Window, pid: u32) -> Twin {
        let (x, screen) = RustConnection::connect(Some(self.name())).expect("the display answers");
        let root = x.setup().roots[screen].root;
        let window = x.generate_id().expect("the display has ids left");
        let aux = CreateWindowAux::new().event_mask(EventMask::KEY_PRESS);
        let class = WindowClass::INPUT_OUTPUT;
        x.create_window(0, window, root, 1200, 600, 300, 200, 0, class, 0, &aux)
            .expect("the display lives");
        let any = AtomEnum::ANY;
        for name in ["WM_CLIENT_MACHINE", "WM_CLASS", "_NET_WM_NAME", "WM_NAME"] {
            let atom = self.atom(name);
            let asked = x.get_property(false, of, atom, any, 0, 1024).expect("the display lives");
            if let Ok(property) = asked.reply() {
                x.change_property8(
                    PropMode::REPLACE,
                    window,
                    atom,
                    property.type_,
                    &property.value,
                )
                .expect("the display lives");
            }
        }
        let atom = self.atom("_NET_WM_PID");
        x.change_property32(PropMode::REPLACE, window, atom, AtomEnum::CARDINAL, &[pid])
            .expect("the display lives");
        x.map_window(window).expect("the display lives");
        x.flush().expect("the display lives");
        let listed = process::poll(PATIENCE, Duration::from_millis(10), || {
            self.property(self.0.root, "_NET_CLIENT_LIST").contains(&window).then_some(())
        });
        listed.expect("the window manager takes the window");
        Twin { x, window }
    }
}

/// The window of [`Desktop::twin`]; dropping it closes the window.
pub struct Twin {
    x: RustConnection,
    window: Window,
}

impl Twin {
    pub fn window(&self) -> Window {
        self.window
    }

    /// The number of keys that arrived since the last call.
    pub fn keys(&self) -> usize {
        let mut keys = 0;
        while let Ok(Some(event)) = self.x.poll_for_event() {
            keys += usize::from(matches!(event, Event::KeyPress(_)));
        }
        keys
    }
}
