//! The tmux carrier against a real tmux on a private socket; the tests check every byte that
//! arrives in a pane.
#![allow(clippy::disallowed_methods, reason = "tests are an edge: they start processes and wait")]

mod find;
mod keys;
mod server;
