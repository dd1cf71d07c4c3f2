//! Context surgery on sessions of the real client. The client plays a session against the mock,
//! the binary under test makes a successor, and the client resumes it. The tests compare the next
//! request block by block with a promise computed from the original transcript, without the
//! library.

mod block;
mod broken;
mod chains;
mod compaction;
mod extract;
mod fair;
mod figures;
mod judge;
mod live;
mod operations;
mod pairs;
mod played;
mod source;
mod terminal;
mod worktree;
