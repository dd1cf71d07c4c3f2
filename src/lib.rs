//! brain-guard: measures how full a coding agent's context is, has the agent write down how the
//! work is going, and starts a fresh session from these notes.
//!
//! This is the program: its command line and its verbs, on top of the crates below.
//! `docs/architecture.md` describes these.

pub mod cli;
pub mod cmd;
pub mod tokens;
pub mod view;
