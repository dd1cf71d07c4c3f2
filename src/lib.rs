//! brain-guard: measures how full a coding agent's context is, has the agent
//! write down how the work is going, and carries that into a fresh session.
//!
//! This is the program: its command line and its verbs, what brings the crates below together.
//! The map of these is `docs/architecture.md`.

pub mod cli;
pub mod cmd;
pub mod tokens;
