//! What a repository's reflogs tell: which commits were made in it, which of them by a
//! call of this session, and what a job's list of commits becomes by that. Pure: the
//! lines come in, the list goes out; who reads and writes them is `store`.

mod list;
mod reflog;
mod whose;

pub use list::{Change, Entry, add, apply, commits, shown};
pub use reflog::{Act, Line};
pub use whose::{Call, Evidence, Place, folders, ours};
