//! Decides on tool calls: how full the context is, which tier applies, what is still allowed.
//! Pure: files, clock and environment come in as arguments.

pub mod bands;
pub mod coach;
pub mod command;
pub mod decide;
pub mod limit;
pub mod ramp;
pub mod stance;
pub mod verbs;
