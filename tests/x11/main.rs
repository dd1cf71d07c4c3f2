//! The X11 carrier against a real X server (Xvfb), window manager (openbox) and terminal (xterm).
//! A reader of raw bytes plays the client.
#![allow(
    clippy::disallowed_methods,
    reason = "tests are an edge: they start processes, read files and wait"
)]

mod find;
mod harness;
mod keys;
mod paste;
