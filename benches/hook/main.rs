//! The time of a whole hook process, compared with `/bin/true` and an empty static program in the
//! same run. Its counts are the same on every machine. `./bench` builds and starts this.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that measures processes and prints"
)]

mod args;
mod calls;
mod case;
mod counts;
mod goals;
mod instructions;
mod machine;
mod memory;
mod page;
mod rows;
mod seal;
mod timing;
mod world;

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde_json::{Value, json};

use args::Args;
use calls::Calls;
use case::Case;
use counts::{Accepted, Held};
use goals::Goal;
use machine::Machine;
use timing::Timing;
use world::World;

/// `/bin/true`, the empty program, and the first case by the launcher of a plugin's folder.
const BASELINES: usize = 3;

struct Row {
    case: Case,
    timing: Timing,
    peak: memory::Peak,
    calls: Calls,
    /// If they were counted.
    instructions: Option<u64>,
}

struct Run {
    command: String,
    machine: Machine,
    rounds: usize,
    /// The baselines, then the cases.
    rows: Vec<Row>,
    goals: Vec<Goal>,
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

/// Measures and prints; returns whether all asserted goals hold.
fn run(args: &Args) -> Result<bool, String> {
    calls::check();
    counts::check();
    let world = World::new(&args.work, &args.binary, &args.sizes, args.aside.as_deref())
        .map_err(|e| e.to_string())?;
    let cases: Vec<Case> = args.sizes.iter().flat_map(|mb| world.cases(*mb)).collect();
    memory::check(&args.eater, &cases[0])?;
    let rows = measure(args, &world, cases);
    let run = Run {
        command: args.command.clone(),
        machine: Machine::here(world.binary(), &args.target),
        rounds: args.rounds,
        goals: goals::all(&rows[BASELINES..]),
        rows,
    };
    if args.json {
        println!("{:#}", json(&run));
    } else {
        println!("{}\n", run.machine);
        println!("{} rounds; milliseconds from start to end of the process\n", run.rounds);
        println!("{}\n{}", page::table(&run), page::goals(&run.goals));
    }
    if args.write {
        let path = page::write(&run).map_err(|e| format!("docs/benchmarks.md: {e}"))?;
        eprintln!("bench: wrote {}", path.display());
    }
    let mut holds = run.goals.iter().all(|goal| goal.held || !goal.asserted);
    let now = accepted(&run);
    if args.accept {
        let path = now.write().map_err(|e| format!("counts.json: {e}"))?;
        eprintln!("bench: wrote {}", path.display());
    } else if args.quick {
        let (over, notes) = Accepted::read()?.compare(&now);
        for line in notes.iter().chain(&over) {
            eprintln!("bench: {line}");
        }
        if !over.is_empty() {
            eprintln!(
                "bench: more than was accepted; take it back, or ./bench --accept and say in the commit what it is for"
            );
        }
        holds &= over.is_empty();
    }
    Ok(holds)
}

/// Counts come first, because the files that a run leaves are the same then in every run.
fn measure(args: &Args, world: &World, cases: Vec<Case>) -> Vec<Row> {
    let first = &cases[0];
    let by_launcher = Case {
        name: format!("{} by the launcher", first.name),
        program: world.launcher().expect("the world's folder is writable"),
        ..first.clone()
    };
    let baselines: [Case; BASELINES] = [
        first.instead("/bin/true", std::path::Path::new("/bin/true")),
        first.instead("empty static program", &args.empty),
        by_launcher,
    ];
    let seals = seal::cases(first, world.folder());
    let all: Vec<Case> = baselines.into_iter().chain(cases).chain(seals).collect();
    let counted: Vec<_> = all
        .iter()
        .map(|case| {
            let calls = calls::count(case, world.folder());
            let instructions =
                instructions_of(case).then(|| instructions::count(case, world.folder()));
            (calls, instructions, memory::peak(case))
        })
        .collect();
    let timings = timing::measure(&all, args.rounds);
    let rows = all.into_iter().zip(counted).zip(timings);
    let rows = rows.map(|((case, (calls, instructions, peak)), timing)| Row {
        case,
        timing,
        peak,
        calls,
        instructions,
    });
    rows.collect()
}

/// Which instructions to count: a decision with and without module, the largest input, and the
/// seal.
fn instructions_of(case: &Case) -> bool {
    match case.name.as_str() {
        world::READ | seal::FULL => true,
        world::RESULT => !case.module,
        _ => false,
    }
}

/// The counts at the smallest transcript; at others they are the same, or a goal fails.
fn accepted(run: &Run) -> Accepted {
    let mut cases = BTreeMap::new();
    for row in &run.rows[BASELINES..] {
        let held = Held::of(&row.calls, row.instructions, row.peak.own_kib);
        cases.entry(row.case.key()).or_insert(held);
    }
    let Machine { rustc, target, .. } = &run.machine;
    Accepted { rustc: rustc.clone(), target: target.clone(), cases }
}

fn json(run: &Run) -> Value {
    let rows: Vec<Value> = run
        .rows
        .iter()
        .map(|row| {
            json!({
                "case": row.case.name, "transcript_mb": row.case.megabytes, "mod": row.case.module,
                "timing": row.timing, "peak_kib": row.peak.resident_kib,
                "own_kib": row.peak.own_kib, "calls": row.calls,
                "instructions": row.instructions,
            })
        })
        .collect();
    json!({
        "command": run.command, "machine": run.machine, "rounds": run.rounds, "cases": rows,
        "goals": run.goals,
    })
}
