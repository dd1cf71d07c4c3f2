//! The notes of a session: the compaction file, its seal, and the job that they belong to. Nothing
//! here uses files or the clock.

pub mod compaction;
pub mod job;
pub mod seal;
