//! The user's selections, saved while ours replace them.

use std::process::Child;

use x11rb::protocol::xproto::Window as Id;

/// The saved state of both selections.
#[derive(Debug, Default)]
pub(super) struct Selections {
    pub(super) slots: [Slot; 2],
}

#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) kept: Option<Kept>,
    /// Our helper process, and the window with which it owns the selection.
    pub(super) holder: Option<(Child, Id)>,
}

/// The user's text, and the owner that we left in its place.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) text: Option<String>,
    pub(super) left: Id,
}
