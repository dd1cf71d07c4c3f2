//! Which commits of a repository a call of this session made, and what a job's list of commits
//! becomes by that. Pure: what git says comes in, the list goes out; who asks git and writes
//! lists is `files`.

mod authorship;
mod list;

pub use authorship::{Call, Evidence, folders, ours, reports};
pub use list::{Change, Entry, add, apply, commits, shown};
