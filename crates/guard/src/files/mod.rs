//! The guard's files: state of sessions, jobs, notes and boundaries, and the journal.
#![allow(clippy::disallowed_methods, reason = "it owns the guard's files")]

pub mod ancestry;
pub mod archives;
pub mod boundary;
pub mod commits;
pub mod job_files;
pub mod jobs;
pub mod journal;
pub mod keybindings;
pub mod moved;
pub mod names;
pub mod neighbours;
pub mod prune;
pub mod repository;
pub mod sealing;
pub mod shadows;
pub mod state;
pub mod succession;
