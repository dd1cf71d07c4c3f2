//! What the hook, surgery and extraction cost as whole processes: time, memory, system calls,
//! instructions. `./bench` builds and starts it. Counts and memory can fail a run, times never do.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that measures processes and prints"
)]

mod extract;
mod harness;
mod hook;
mod session;
mod surgery;
mod view;

use std::process::ExitCode;

use harness::Bench;

fn main() -> ExitCode {
    harness::trace::check();
    hook::counts::check();
    // Cargo passes `--bench` to every benchmark.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let done = Bench::parse(&words).and_then(|(bench, mode)| match mode {
        "surgery" => surgery::run(&bench),
        "extract" => extract::run(&bench),
        "view" => view::run(&bench),
        _ => hook::run(&bench),
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("bench: {why}");
            ExitCode::from(2)
        }
    }
}
