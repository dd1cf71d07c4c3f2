//! Session files, pure over bytes: their lines as they are, what the rows mean in each
//! client's dialect, rounds; and for the hook, how full the context is, read from the end.
//! Reading the file's end is `store::tail`.

mod branch;
pub mod course;
pub mod dialect;
pub mod digest;
pub mod fill;
#[cfg(test)]
pub(crate) mod fixtures;
#[cfg(test)]
pub(crate) mod generate;
#[cfg(test)]
mod laws;
pub mod line;
pub mod round;
mod row;
pub mod rows;
pub mod span;
pub mod usage;
