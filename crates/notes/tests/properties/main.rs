//! Holds for any notes.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod compaction;
mod seal;
