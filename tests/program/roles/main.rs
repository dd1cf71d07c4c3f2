//! The processes that tests start and kill:
//!
//! - `install FOLDER`, `uninstall FOLDER`: the verb, with a small program to install
//! - `edit FILE [PATIENCE [LONGEST]]`: a rewrite of a session file
//! - `write FOLDER SEED`: a client that writes sessions
//! - `panic`, `panic-in-hook`: a bug, without and with the hook's handler
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests are an edge: they start processes, read files, and print"
)]

mod edit;
mod install;
#[path = "../store/made.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod made;
#[path = "../kill/plan.rs"]
mod plan;
mod write;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [verb @ ("install" | "uninstall"), folder] => install::run(verb, Path::new(folder)),
        ["edit", file, how @ ..] => edit::edit(Path::new(file), how),
        ["write", folder, seed] => {
            write::write(Path::new(folder), seed.parse().expect("a number"));
            ExitCode::SUCCESS
        }
        ["panic"] => panic!("a bug in the hook"),
        ["panic-in-hook"] => {
            guard::hook::pass_on_panic();
            panic!("a bug in the hook")
        }
        other => panic!("no role {other:?}"),
    }
}
