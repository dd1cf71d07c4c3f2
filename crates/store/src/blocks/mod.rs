//! The block store: the rows of sessions as they were written, append-only, each addressed by
//! its content. The truth of all that surgery reads; everything in `index` but the tags can be
//! made again from here.
//!
//! `<root>/sessions/<agent>/<session>/blocks/NNNNNN.pack`. A pack is a row of records: a line
//! of JSON (the [`Header`]), then the block's bytes. Blocks of one row follow each other, the
//! last one ends with the row's line break, and all blocks of a session, joined, are its
//! transcript byte for byte. A session whose file was written anew gets a new edition: the
//! blocks of the old one are kept as `blocks.<n>/`.
#![allow(clippy::disallowed_methods, reason = "it owns the blocks")]

mod cut;
mod edition;
mod pack;
mod reader;
mod records;
mod root;
#[cfg(test)]
mod tests;
mod writer;

use serde::{Deserialize, Serialize};

pub use edition::{Edition, editions, identity, set_aside};
pub use pack::{ROLL, numbers, path as pack_path, place, position};
pub use reader::Reader;
pub use records::{Head, Next, Records, id};
pub use root::{Folder, Root, folder_name};
pub use sessions::rows::Rows;
pub use writer::{Author, Writer, whole_rows};

/// What is known of a block without its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// SHA-256 of its bytes, in hex: the block's id.
    pub id: String,
    /// Its session.
    pub session: String,
    /// Its round, from 1; 0 before the first.
    pub round_seq: u32,
    /// Its row, from 0.
    pub row: u64,
    /// `user`, `assistant`, `system`, or empty.
    pub role: String,
    /// [`sessions::dialect::BlockKind::name`].
    #[serde(rename = "type")]
    pub kind: String,
    /// When its row was written, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Its length in bytes.
    pub bytes: u64,
    /// Where in these its content lies: start and length.
    pub content: (u64, u64),
}
