//! End-to-end tests: the real Claude Code client against a mock Messages API on loopback.
//!
//! `world` builds everything one test may touch: HOME, project, plugins, client environment.
//! `mock` is the API with a scripted agent. `client` drives the client in tmux, in an xterm on
//! its own `desktop`, or with `-p`.
#![allow(
    clippy::disallowed_methods,
    reason = "tests are an edge: they start processes, read files and wait"
)]
#![allow(clippy::too_many_lines, reason = "a scenario is one story")]

#[path = "../report/browser.rs"]
#[allow(dead_code, reason = "the report's own tests use the rest")]
mod browser;
mod carrier;
#[allow(dead_code, reason = "the soak uses the rest")]
mod client;
#[allow(dead_code, unused_imports, reason = "the soak uses the rest")]
mod desktop;
mod evidence;
mod guard;
mod harness;
#[path = "../live/mod.rs"]
mod live;
#[allow(dead_code, reason = "the soak uses the rest")]
mod mock;
mod process;
mod surgery;
#[allow(dead_code, reason = "the soak uses the rest")]
mod world;
