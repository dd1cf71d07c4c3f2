//! What both test programs share. `hook` plays one session against the real binary. `world`,
//! `client`, `desktop` and `mock` run the real client in tmux, in an xterm or with `-p`, against a
//! Messages API on loopback with a scripted agent.
#![allow(dead_code, unused_imports, reason = "each test program uses a part")]

pub mod client;
pub mod desktop;
pub mod disk;
pub mod evidence;
pub mod hook;
pub mod journal;
pub mod listing;
pub mod mock;
pub mod process;
pub mod run;
pub mod trace;
pub mod world;

/// A variable's number, for long runs by hand.
pub fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().map_or(default, |text| text.parse().expect(variable))
}
