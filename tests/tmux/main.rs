//! The tmux carrier against a real tmux on a private socket: what arrives in the
//! pane, byte for byte, and what doesn't.
#![allow(clippy::disallowed_methods, reason = "tests are an edge: they start processes and wait")]

mod find;
mod keys;
mod server;
