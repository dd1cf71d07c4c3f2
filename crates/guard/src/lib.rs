//! The guard: measures context usage and the compaction file, restricts tool calls, seals the
//! notes, and delivers them to a fresh session. The hook joins these parts.

pub mod boundary;
pub mod client;
pub mod compaction;
pub mod files;
pub mod hook;
pub mod job;
pub mod journal;
pub mod policy;
pub mod report;
pub mod seal;
pub mod session;
pub mod settings;
pub mod succession;
pub mod texts;
