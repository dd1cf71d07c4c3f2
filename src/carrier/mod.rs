//! What executes a boundary, and the process that watches it.

pub mod client;
pub mod reach;
pub mod select;
pub mod terminal;
pub mod tmux;
pub mod waiter;
pub mod x11;
