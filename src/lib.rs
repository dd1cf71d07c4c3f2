//! brain-guard: measures how full a coding agent's context is, has the agent
//! write down how the work is going, and carries that into a fresh session.
//!
//! The layers (CONTRIBUTING.md): `policy`, `compaction`, `seal`, `job`,
//! `boundary`, `transcript`, `git`, `surgery`, `extract`, `report` and `plain` are pure; `store`, `carrier`, `process`, `env`,
//! `clock` and `log` touch the world; `hook` and `cmd` join them.

pub mod boundary;
pub mod carrier;
pub mod cli;
pub mod client;
pub mod clock;
pub mod cmd;
pub mod compaction;
pub mod env;
pub mod extract;
pub mod git;
pub mod hook;
pub mod index;
pub mod job;
pub mod log;
pub mod plain;
pub mod policy;
pub mod process;
pub mod report;
pub mod seal;
pub mod session;
pub mod settings;
pub mod store;
pub mod surgery;
pub mod switch;
pub mod texts;
pub mod tokens;
pub mod transcript;
