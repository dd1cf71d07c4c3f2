//! End-to-end tests: the real Claude Code client against a mock Messages API on loopback.
//!
//! `world` builds everything one test may touch (HOME, project, plugins, client environment), `mock` is the
//! API with a scripted agent, `client` drives the client in tmux or with `-p`. The tests sit beside them.
#![allow(
    clippy::disallowed_methods,
    reason = "tests are an edge: they start processes, read files and wait"
)]
#![allow(clippy::too_many_lines, reason = "a scenario is one story")]

mod client;
mod evidence;
mod guard;
mod harness;
mod mock;
mod process;
mod world;
