//! What surgery costs on long sessions, beside programs that everybody has, over the same
//! files in the same run: time, memory, instructions. One thread each. `./bench surgery`
//! builds what this needs and starts it.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that measures processes and prints"
)]

mod args;
mod goals;
mod measure;
mod page;
mod pool;
mod rows;
mod session;
mod world;

/// The parts that it shares with the benchmark of the hook.
macro_rules! shared {
    ($($name:ident at $path:literal)+) => {
        $(
            #[path = $path]
            #[allow(dead_code, reason = "the other benchmark uses the rest")]
            mod $name;
        )+
    };
}
shared! {
    case at "../hook/case.rs"
    instructions at "../hook/instructions.rs"
    machine at "../hook/machine.rs"
    memory at "../hook/memory.rs"
    timing at "../hook/timing.rs"
}

use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;

use args::Args;
use goals::Goal;
use machine::Machine;
use measure::Measure;
use world::World;

/// One line of the table.
#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    #[serde(skip)]
    about: &'static str,
    /// MB of session that it was asked for.
    size: u64,
    /// Bytes of session that it works on.
    bytes: u64,
    p50_ms: f64,
    least_ms: f64,
    most_ms: f64,
    /// Bytes a second at the median.
    speed: f64,
    peak_kib: u64,
    /// KiB that it may have resident, where there is a goal.
    most_kib: Option<u64>,
    /// Of the program, none of the kernel's, where they were counted.
    instructions: Option<u64>,
    /// In the rounds' order.
    #[serde(skip)]
    times: Vec<Duration>,
}

/// A session that was measured on.
#[derive(Debug, Serialize)]
struct Size {
    megabytes: u64,
    rows: u64,
    rounds: u64,
    largest_round: u64,
    times: usize,
}

/// All that came of one run.
#[derive(Debug, Serialize)]
struct Run {
    command: String,
    machine: Machine,
    sizes: Vec<Size>,
    rows: Vec<Row>,
    goals: Vec<Goal>,
    /// What was not measured, and why.
    missing: Vec<String>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = Args::parse(words.into_iter()).and_then(|args| run(&args));
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("bench: {why}");
            ExitCode::from(2)
        }
    }
}

/// Measures, prints, and says whether all holds that is asserted.
fn run(args: &Args) -> Result<bool, String> {
    let (mut rows, mut sizes, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for (n, megabytes) in args.sizes.iter().enumerate() {
        let world = World::new(args, *megabytes)?;
        let (mut measures, gone) = world.measures(args);
        missing.extend(gone.into_iter().map(|why| format!("{megabytes} MB: {why}")));
        if n == 0 && measure::SEARCH.iter().any(|name| args.wants(name)) {
            let rounds = if args.quick { measure::MANY / 50 } else { measure::MANY };
            match world.searches(args, rounds) {
                Ok(searches) => measures.extend(searches),
                Err(why) => missing.push(format!("search: {why}")),
            }
        }
        if let Some(first) = measures.first() {
            memory::check(&args.eater, &first.case)?;
        }
        let times = args.rounds_at(*megabytes);
        rows.extend(measured(args, *megabytes, times, measures));
        let session = world.session();
        sizes.push(Size {
            megabytes: *megabytes,
            rows: session.rows,
            rounds: session.rounds,
            largest_round: session.largest,
            times,
        });
        world.remove();
    }
    let run = Run {
        command: args.command.clone(),
        machine: Machine::here(&args.binary, &args.target),
        goals: goals::all(&rows),
        sizes,
        rows,
        missing,
    };
    if args.json {
        println!("{}", serde_json::to_string_pretty(&run).map_err(|e| e.to_string())?);
    } else {
        println!("{}\n\n{}", run.machine, page::terminal(&run));
    }
    for why in &run.missing {
        eprintln!("bench: not measured: {why}");
    }
    if args.write {
        let path = page::write(&run).map_err(|e| format!("docs/benchmarks.md: {e}"))?;
        eprintln!("bench: wrote {}", path.display());
    }
    Ok(run.missing.is_empty() && run.goals.iter().all(|goal| goal.held || !goal.asserted))
}

/// Every round starts each program once, in an order that rotates, so that what slows the
/// machine down for a while slows them all.
fn measured(args: &Args, size: u64, rounds: usize, measures: Vec<Measure>) -> Vec<Row> {
    let peaks: Vec<u64> = measures
        .iter()
        .map(|m| {
            m.prepare();
            memory::peak_kib(&m.case)
        })
        .collect();
    let counted: Vec<Option<u64>> = measures
        .iter()
        .map(|m| {
            // Under valgrind everything takes fifty times as long.
            let counts =
                args.quick && matches!(m.name, measure::SCAN | measure::ROUNDS | measure::TYPED);
            counts.then(|| instructions::count(&m.case, &args.work))
        })
        .collect();
    let mut times: Vec<Vec<Duration>> = vec![Vec::with_capacity(rounds); measures.len()];
    for round in 0..rounds {
        for turn in 0..measures.len() {
            let index = (turn + round) % measures.len();
            times[index].push(measures[index].time());
        }
    }
    let all = measures.into_iter().zip(peaks).zip(counted).zip(times);
    all.map(|(((measure, peak_kib), instructions), times)| {
        let ms = timing::millis(&times);
        let p50_ms = timing::quantile(&ms, 0.5);
        Row {
            name: measure.name,
            about: measure.about,
            size,
            bytes: measure.bytes,
            p50_ms,
            least_ms: ms[0],
            most_ms: ms[ms.len() - 1],
            speed: measure.bytes as f64 / p50_ms * 1e3,
            peak_kib,
            most_kib: measure.memory.map(|bytes| bytes / 1024),
            instructions,
            times,
        }
    })
    .collect()
}
