//! Everything that touches the disk: where things lie, whole-file replacement,
//! locks, the transcript's tail, and the files of state.
#![allow(clippy::disallowed_methods, reason = "store owns the file system")]

pub mod ancestry;
pub mod archives;
pub mod aside;
pub mod atomic;
pub mod behind;
pub mod beneath;
pub mod blocks;
pub mod boundary;
pub mod commits;
pub mod extracted;
pub mod fork;
pub mod git;
pub mod jobs;
pub mod journal;
pub mod keybindings;
pub mod lock;
pub mod names;
pub mod neighbours;
pub mod origin;
pub mod paths;
pub mod prompts;
pub mod prune;
pub mod repository;
pub mod requests;
pub mod rows;
pub mod sealing;
pub mod sessions;
pub mod state;
pub mod tail;
