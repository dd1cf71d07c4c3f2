//! What a hook costs: the whole process, from its start to its end, beside
//! `/bin/true` in the same run on the same machine.
//!
//! Every round starts each program once, in an order that rotates, so that what
//! slows the machine down for a while slows them all. A ratio is the median over
//! the rounds of a case's time by `/bin/true`'s of the same round.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that measures processes and prints"
)]

mod measure;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;

use measure::{Figures, measure};
use serde_json::json;
use world::World;

/// What `--quick` asserts of a `PreToolUse` at 50 MB.
const QUICK_RATIO: f64 = 2.0;

struct Args {
    binary: PathBuf,
    rounds: usize,
    json: bool,
    quick: bool,
}

fn args() -> Result<Args, String> {
    let mut args = Args { binary: PathBuf::new(), rounds: 0, json: false, quick: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => args.json = true,
            "--quick" => args.quick = true,
            // Cargo says so to every benchmark.
            "--bench" => {}
            "--binary" => args.binary = words.next().unwrap_or_default().into(),
            "--rounds" => {
                let rounds = words.next().unwrap_or_default();
                args.rounds =
                    rounds.parse().map_err(|_| format!("{rounds:?} is no number of rounds"))?;
            }
            other => {
                return Err(format!("unknown argument {other}; known: --quick --json --rounds N"));
            }
        }
    }
    if !args.binary.is_file() {
        return Err(format!(
            "no program at {}; run ./bench, which builds it",
            args.binary.display()
        ));
    }
    if args.rounds == 0 {
        args.rounds = if args.quick { 150 } else { 400 };
    }
    Ok(args)
}

fn main() -> ExitCode {
    let args = match args() {
        Ok(args) => args,
        Err(why) => {
            eprintln!("bench: {why}");
            return ExitCode::from(2);
        }
    };
    let megabytes: &[usize] = if args.quick { &[50] } else { &[1, 50] };
    let worlds: Vec<World> = megabytes.iter().map(|mb| World::new(&args.binary, *mb)).collect();
    let mut cases: Vec<_> = worlds.iter().flat_map(World::cases).collect();
    if args.quick {
        cases.truncate(1);
    }
    let figures = measure(&cases, args.rounds);
    if args.json {
        let all: Vec<_> = figures.iter().map(Figures::json).collect();
        println!("{:#}", json!({"rounds": args.rounds, "binary": args.binary, "cases": all}));
    } else {
        println!("{} rounds; milliseconds from start to end of the process\n", args.rounds);
        println!("{:<36} {:>7} {:>7} {:>7}   {:>11}", "", "p50", "p90", "p99", "x /bin/true");
        for case in &figures {
            println!("{case}");
        }
    }
    if args.quick
        && let Some(slow) = figures.iter().find(|f| f.ratio > QUICK_RATIO)
    {
        eprintln!(
            "bench: {} takes {:.2} x /bin/true; at most {QUICK_RATIO} is allowed",
            slow.name, slow.ratio
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
