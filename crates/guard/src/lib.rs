//! The guard: how full the context and the compaction file are, what that means for a tool call,
//! how notes are sealed and carried into a fresh session, and the hook that joins it all.

pub mod boundary;
pub mod client;
pub mod compaction;
pub mod files;
pub mod git;
pub mod hook;
pub mod job;
pub mod policy;
pub mod report;
pub mod seal;
pub mod session;
pub mod settings;
pub mod texts;
