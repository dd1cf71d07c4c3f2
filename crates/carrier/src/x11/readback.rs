//! Reads the screen as a user would: selects its text with the pointer. Shift is held, because the
//! client takes the pointer for itself.

use std::time::Duration;

use enigo::{Direction, Key};
use x11rb::NONE;
use x11rb::protocol::xproto::Window as Id;

use super::selection::Which;
use super::window::Window;
use crate::terminal::Refusal;

/// Distance from the right edge, where a scroll bar may be, in pixels.
const BAR: i16 = 40;

/// Distance from the other edges.
const EDGE: i16 = 3;

/// A point on the root window.
type Point = (i16, i16);

/// How long the terminal may take to own the selection.
const SELECT: Duration = Duration::from_secs(1);

impl Window {
    /// The visible screen as text.
    pub(super) fn read_screen(&mut self) -> Result<String, Refusal> {
        let id = self.proven()?;
        self.keep_selection(Which::Primary)?;
        // Some terminals copy to the clipboard too, or only there.
        let kept = self.keep_selection(Which::Clipboard).is_ok();
        self.keys()?;
        let (from, to) = self.corners(id)?;
        self.ready()?;
        let at = self.display.pointer()?.at;
        // Without an owner now, a new owner shows that the terminal has selected.
        self.empty_selection(Which::Primary)?;
        if kept && self.display.same_client(self.display.owner(Which::Clipboard)?, id) {
            self.empty_selection(Which::Clipboard)?;
        }
        let copied = self.display.owner(Which::Clipboard)?;
        self.keys()?.send(Key::Shift, Direction::Press)?;
        let dragged = self.drag(from, to);
        let released = self.keys()?.send(Key::Shift, Direction::Release);
        let moved = self.display.pointer()?.at != to;
        self.display.move_pointer(at)?;
        dragged.and(released)?;
        let filled = self.wait(SELECT, |display| {
            let primary = display.owner(Which::Primary)? != NONE;
            let clipboard = display.owner(Which::Clipboard)? != copied;
            let either = clipboard.then_some(Which::Clipboard);
            Ok(primary.then_some(Which::Primary).or(either))
        })?;
        let Some(which) = filled else {
            return Err(Refusal::later("the terminal selects nothing"));
        };
        let text = self.selected(which);
        // This also removes the highlight from the screen.
        self.empty_selection(Which::Primary)?;
        if kept && self.display.owner(Which::Clipboard)? != copied {
            self.empty_selection(Which::Clipboard)?;
        }
        if moved {
            return Err(Refusal::later("the pointer was moved by somebody else"));
        }
        text
    }

    fn drag(&mut self, from: Point, to: Point) -> Result<(), Refusal> {
        let middle = (i16::midpoint(from.0, to.0), i16::midpoint(from.1, to.1));
        self.display.move_pointer(from)?;
        self.display.press_pointer(true)?;
        let moved = self.display.move_pointer(middle).and_then(|()| self.display.move_pointer(to));
        let released = self.display.press_pointer(false);
        moved.and(released)
    }

    /// Where the drag begins and ends; fails if another window covers one of them.
    fn corners(&self, id: Id) -> Result<(Point, Point), Refusal> {
        let (x, y, width, height) = self.display.area(id)?;
        let from = (x + width - BAR, y + height - EDGE);
        let to = (x + EDGE, y + EDGE);
        for corner in [from, to] {
            if !self.display.covers(id, corner)? {
                return Err(Refusal::later("another window covers a corner of the terminal"));
            }
        }
        Ok((from, to))
    }
}
