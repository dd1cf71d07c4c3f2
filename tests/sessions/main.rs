//! The chain: thirty sessions of one growing job through the real hooks and verbs, and what each
//! carries over. `tests/chain` prints it; `cargo test` runs it with controls that must fail.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the chain is a program of its own: it starts processes, reads files, and prints"
)]

mod agent;
mod args;
mod control;
mod judge;
mod note;
mod report;
mod run;
mod story;

#[path = "../hook/harness.rs"]
#[allow(dead_code, reason = "the hook's tests use the rest")]
mod harness;

use std::process::ExitCode;
use std::time::Instant;

use agent::{AGENTS, Agent};
use args::Args;
use judge::judge;
use run::run;

fn main() -> ExitCode {
    let args = match Args::read(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    if args.elsewhere {
        return ExitCode::SUCCESS;
    }
    let began = Instant::now();
    let chain = run(args.seed, args.sessions, args.control, Agent::Summarizes);
    let faults = judge(&chain);
    let mut passed = usize::from(faults.is_empty() != args.control);
    let mut failed = 1 - passed;
    if args.json {
        println!("{}", report::json(&args, &chain, &faults));
    } else {
        println!("{}", report::table(&args, &chain, &faults));
    }
    if args.sessions >= 30 && !args.control && !args.json {
        println!("{}", report::FACTS_HEAD);
        for agent in AGENTS {
            let chain = run(args.seed, args.sessions, false, agent);
            let (line, good) = report::facts(agent, &chain);
            println!("{line}");
            passed += usize::from(good);
            failed += usize::from(!good);
        }
    }
    if args.short {
        for (name, found) in control::all(&args, &chain) {
            println!("control, {name}: {}", if found { "found" } else { "NOT FOUND" });
            passed += usize::from(found);
            failed += usize::from(!found);
        }
    }
    if !args.json {
        let verdict = if failed == 0 { "ok" } else { "FAILED" };
        println!("{:.1} s", began.elapsed().as_secs_f64());
        println!("test result: {verdict}. {passed} passed; {failed} failed; 0 ignored");
    }
    ExitCode::from(u8::from(failed > 0))
}
