//! The carriers that perform a boundary, and the process that watches it.

pub mod chords;
pub mod drive;
pub mod keyboard;
pub mod reach;
pub mod screen;
pub mod terminal;
pub mod tmux;
pub mod waiter;
#[cfg(target_os = "linux")]
pub mod x11;
#[cfg(not(target_os = "linux"))]
#[path = "no_x11.rs"]
pub mod x11;
