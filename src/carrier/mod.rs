//! What executes a boundary, and the process that watches it.

pub mod client;
pub mod select;
pub mod waiter;
