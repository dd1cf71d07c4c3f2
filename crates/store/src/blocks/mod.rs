//! The rows of a session, losslessly: `blocks.db` holds blocks, each a run of consecutive rows of
//! one round, compressed, with the SHA-256 of its bytes. What was there before a session's file
//! was rewritten is kept as `blocks.<n>.db`. Earlier builds kept both in folders of packs, which
//! are copied when they are first opened.
#![allow(clippy::disallowed_methods, reason = "it owns the blocks")]

mod edition;
mod file;
mod old;
mod open;
mod packs;
mod reader;
mod root;
#[cfg(test)]
mod tests;
mod writer;

pub use edition::{Edition, editions, set_aside};
pub use old::{Packs, packs_of};
pub use open::identity;
pub use reader::{Reader, Totals};
pub use root::{Folder, Root, folder_name};
pub use sessions::rows::Rows;
pub use writer::Writer;
