//! The X11 carrier against a real X server (Xvfb), window manager (openbox) and terminal (xterm).
//! A reader of raw bytes plays the client.

mod find;
pub mod harness;
mod keys;
