//! A short session with a real model on the user's account, which counts the model's reactions to
//! the guard: `./test --live`. The other tests here test it with the mock API.

pub mod access;
pub mod args;
pub mod judge;
pub mod read;
pub mod report;
pub mod session;
mod sight;
pub mod stage;

use std::io::{IsTerminal, Write};
use std::time::Duration;

use args::Args;

/// The variable with the arguments of `./test --live`.
const ARGS: &str = "BRAIN_GUARD_LIVE";

/// Limit for silence, since a thinking model may be silent for long.
const QUIET: Duration = Duration::from_secs(180);

#[test]
#[ignore = "spends money on your account: ./test --live"]
fn with_a_real_model() {
    let words = std::env::var(ARGS).unwrap_or_default();
    let args = Args::read(words.split_whitespace().map(str::to_owned));
    let args = args.unwrap_or_else(|why| panic!("{why}"));
    let access = access::access(|name| std::env::var(name).ok());
    let access = access.unwrap_or_else(|why| panic!("{why}"));
    eprintln!("{}", args.cost());
    assert!(args.yes || agreed(), "not begun; --yes begins without asking");
    let world = stage::build(&args, &access).start();
    let is_terminal = std::io::stderr().is_terminal();
    let mut told = |line: &str| {
        let (before, after) = if is_terminal { ("\r\x1b[K", "") } else { ("", "\n") };
        eprint!("{before}{line}{after}");
        // A closed terminal must not stop the run.
        let _ = std::io::stderr().flush();
    };
    let run = session::run(&args, &world, QUIET, &mut told);
    if is_terminal {
        eprintln!();
    }
    if args.json {
        println!("{}", report::json(&args, &run));
    } else {
        println!("{}", report::text(&args, &run));
    }
    assert!(run.verdict.went_on(), "it did not seal, or the next session did not go on");
}

fn agreed() -> bool {
    if !std::io::stdin().is_terminal() {
        return false;
    }
    eprint!("Begin? [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
