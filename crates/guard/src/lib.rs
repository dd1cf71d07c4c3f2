//! The guard: measures context usage and the compaction file, restricts tool calls, and delivers the
//! sealed notes to a fresh session. The hook joins these parts.

pub mod boundary;
pub mod client;
pub mod files;
pub mod hook;
pub mod journal;
pub mod policy;
pub mod report;
pub mod session;
pub mod settings;
pub mod succession;
pub mod texts;
