//! Kills every writing verb and hook at each system call that writes, renames, links, removes,
//! truncates, makes a folder or syncs. The disk must hold the old or the new state, and the next
//! call must continue from it.

mod control;
mod installing;
mod judge;
mod operations;
mod plan;
mod play;
pub mod sessions;
