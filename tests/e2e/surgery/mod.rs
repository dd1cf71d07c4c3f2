//! Context surgery on sessions of the real client: it plays a session against the mock, the binary under test
//! makes another of it, the client resumes that, and its next request is held block by block against what the
//! operation promises. The promise is computed here from the original transcript, without the library.

mod block;
mod broken;
mod chains;
mod compaction;
mod extract;
mod fair;
mod judge;
mod operations;
mod played;
mod source;
mod terminal;
mod worktree;
