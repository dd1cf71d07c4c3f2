//! The X11 carrier against a real X server (Xvfb), a window manager (openbox) and
//! a terminal (xterm) in which a reader of raw bytes stands for the client.
#![allow(
    clippy::disallowed_methods,
    reason = "tests are an edge: they start processes, read files and wait"
)]

mod find;
mod harness;
mod keys;
mod paste;
