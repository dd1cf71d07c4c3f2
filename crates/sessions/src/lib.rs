//! Session files of Claude Code, pi and `OpenClaw`: raw lines, the meaning of rows in each client's
//! dialect, rounds and usage. The hook uses it to read the context usage from the end of the file.
//! Only [`files`] touches the disk.

mod branch;
pub mod cost;
pub mod course;
pub mod dialect;
pub mod digest;
pub mod files;
pub mod fill;
pub mod flat;
pub mod gauge;
pub mod line;
pub mod model;
pub mod operation;
pub mod origin;
pub mod ranges;
pub mod refusal;
pub mod round;
mod row;
pub mod rows;
pub mod sent;
pub mod settings;
pub mod span;
pub mod usage;
