//! The tmux carrier against a real tmux on a private socket; the tests check every byte that
//! arrives in a pane.

mod find;
mod keys;
mod server;
