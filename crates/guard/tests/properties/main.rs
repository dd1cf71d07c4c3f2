//! Holds for any sequence of what sessions do to jobs.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod jobs;
