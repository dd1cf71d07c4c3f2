//! The guard's judgement: how full, which tier, what may still be done. Pure:
//! files, clock and environment come in as arguments.

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
