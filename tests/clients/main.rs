//! The real clients, terminals and judges: Claude Code in tmux, in an xterm and with `-p`, against a
//! mock Messages API on loopback; tmux and X11 without a client; pi and OpenClaw on extracted
//! sessions; the report in a browser.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests are an edge: they start processes, read files, wait, and print"
)]
#![allow(clippy::too_many_lines, reason = "a scenario is one story")]

mod carrier;
mod climb;
mod guard;
mod harness;
mod live;
mod openclaw;
mod pi;
mod report;
mod soak;
#[path = "../support/mod.rs"]
mod support;
mod surgery;
mod tmux;
mod x11;
