//! Decides on tool calls: how full the context is, which tier applies, what is still allowed.
//! Pure: files, clock and environment come in as arguments.

pub mod bands;
pub mod carve_outs;
pub mod coach;
pub mod decide;
pub mod limit;
pub mod operator;
pub mod ramp;
pub mod shell;
pub mod stance;
pub mod verbs;
