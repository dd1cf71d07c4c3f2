//! Context surgery on sessions of the real client. The client plays a session against the mock,
//! the binary under test makes a successor, and the client resumes it. The tests compare the next
//! request block by block with a promise computed from the original transcript, without the
//! library.

mod began;
mod block;
mod bound;
mod broken;
mod chains;
mod compaction;
mod extract;
mod failing;
mod fair;
mod figures;
mod forms;
mod judge;
mod killed;
mod large;
mod live;
mod mend;
mod operations;
mod pairs;
mod played;
mod random;
mod saved;
mod source;
mod terminal;
mod unattended;
mod viewer;
mod worktree;

/// Whether this is `./test --long`, which takes its time.
fn is_long() -> bool {
    std::env::var_os("BRAIN_GUARD_LONG").is_some()
}
