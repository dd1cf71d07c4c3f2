//! The block store under stress. A hundred sessions are imported while others write them, and both
//! kinds of processes are killed at random; then imports are killed at writing calls. In the end
//! every session must be complete, each round once, and `doctor` finds nothing wrong.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program of its own: it starts processes, reads files, and prints"
)]

mod database;
mod edits;
mod extracts;
mod kills;
mod late;
mod made;
mod scene;
mod storm;

#[path = "../kill/disk.rs"]
#[allow(dead_code, reason = "the kill harness uses the rest")]
mod disk;
#[path = "../hook/harness.rs"]
#[allow(dead_code, reason = "the hook's tests use the rest")]
mod harness;
#[path = "../kill/trace.rs"]
#[allow(dead_code, reason = "the kill harness uses the rest")]
mod trace;

#[path = "../played.rs"]
mod played;

use std::process::ExitCode;

use played::End;

type Case = (&'static str, fn() -> End);

const CASES: [Case; 16] = [
    ("a hundred sessions, written and imported by processes that are killed", storm::run),
    ("control: a row that is gone is found", storm::control),
    ("kills: the first inscription", || kills::run(kills::first)),
    ("kills: what was appended", || kills::run(kills::appended)),
    ("kills: a file that was written anew", || kills::run(kills::anew)),
    ("kills: a session's file is written anew", edits::killed),
    ("kills: extract run", extracts::run),
    ("kills: extract restore --in-place", extracts::restore),
    ("kills: extract run on a database", database::run),
    ("kills: extract restore --in-place on a database", database::restore),
    ("kills: a session's file is written anew, and written meanwhile", late::killed),
    ("kills: what came late is brought over", late::carrying),
    ("a process that holds a session's file for over 5 s", late::held),
    ("no room for what came late", late::full),
    ("a session's file without room", edits::full),
    ("a session's file in a folder that can't be written", edits::read_only),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [role, folder, seed] = words.as_slice()
        && role == made::WRITER
    {
        made::write(folder.as_ref(), seed.parse().unwrap_or_default());
        return ExitCode::SUCCESS;
    }
    if let [role, path, how @ ..] = words.as_slice()
        && role == edits::EDITOR
    {
        return edits::edit(path.as_ref(), how);
    }
    // Memory is faster than a disk, and the test does not depend on bytes reaching a disk.
    let memory = std::path::Path::new("/dev/shm");
    if tempfile::tempdir_in(memory).is_ok() {
        // Fails only if it was set before.
        let _ = tempfile::env::override_temp_dir(memory);
    }
    played::all(&words, "store", CASES.into_iter().map(|(name, case)| (name.to_owned(), case)))
}
