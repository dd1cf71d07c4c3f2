//! Decides which commits a call of this session made, and updates a job's list of commits. It is
//! pure: `files` asks git and writes the lists.

mod authorship;
mod list;

pub use authorship::{Call, Evidence, find_evidence, folders, reports};
pub use list::{Change, Entry, add, apply, commits, to_commit};
