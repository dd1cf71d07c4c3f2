//! `./test --live`: a short session of the real client with a real model, on the user's account,
//! and a report on it. It never runs in CI or by `cargo test`.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own: it starts processes, waits, and prints"
)]

include!("../e2e/borrowed.rs");
#[path = "mod.rs"]
#[allow(dead_code, unused_imports, reason = "its tests run with the end-to-end tests")]
mod live;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use live::args::Args;
use live::{access, report, session, stage};

/// Limit for silence, since a thinking model may be silent for long.
const QUIET: Duration = Duration::from_secs(180);

fn main() -> ExitCode {
    let asked = Args::read(std::env::args().skip(1))
        .and_then(|args| Ok((args, access::access(|name| std::env::var(name).ok())?)));
    let (args, access) = match asked {
        Ok(asked) => asked,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    eprintln!("{}", args.cost());
    if !args.yes && !agreed() {
        eprintln!("not begun; --yes begins without asking");
        return ExitCode::from(2);
    }
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
    ExitCode::from(u8::from(!run.verdict.went_on()))
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
