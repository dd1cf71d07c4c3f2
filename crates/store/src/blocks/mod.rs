//! Stores a session's rows losslessly. `blocks.db` holds blocks: compressed runs of consecutive
//! rows of one round, each with its SHA-256. `blocks.<n>.db` are editions from before the session's
//! file was rewritten.
#![allow(clippy::disallowed_methods, reason = "it owns the blocks")]

mod edition;
mod file;
mod reader;
mod root;
#[cfg(test)]
mod tests;
mod writer;

pub use edition::{Edition, editions, set_aside};
pub use reader::{Reader, Totals, identity};
pub use root::{Folder, Root, folder_name};
pub use sessions::rows::Rows;
pub use writer::Writer;
