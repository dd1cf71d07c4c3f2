//! The soak: many boundaries through the real client in tmux and in an xterm, each disturbed in its own way, and
//! all that must not happen counted. `tests/soak` runs it long, `cargo test` short.
//!
//! With `--without-proofs` the soak types `/clear` and Enter itself at every Stop hook, under the same scenarios
//! and the same count: a count that stayed at zero then would prove nothing.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::exit,
    reason = "the soak is a program of its own: it starts processes, waits, and prints"
)]

mod agent;
mod args;
mod dialog;
mod disturb;
mod judge;
mod naive;
mod play;
mod remains;
mod scenario;
mod stage;
mod tally;

/// The parts that the soak shares with the end-to-end tests.
macro_rules! shared {
    ($($name:ident at $path:literal)+) => {
        $(
            #[path = $path]
            #[allow(dead_code, unused_imports, reason = "the end-to-end tests use the rest")]
            mod $name;
        )+
    };
}
shared! {
    client at "../e2e/client/mod.rs"
    desktop at "../e2e/desktop/mod.rs"
    evidence at "../e2e/evidence.rs"
    mock at "../e2e/mock/mod.rs"
    process at "../e2e/process.rs"
    world at "../e2e/world/mod.rs"
}

use std::io::{IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

use serde_json::json;

use args::Args;
use play::Plan;
use scenario::{Dice, Road, SKIPPED, Scenario};
use stage::{Setup, Stage};
use tally::Tally;

/// Boundaries that one client lives through; then another one begins, with other choices.
const LIFE: usize = 25;

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
    // What a wait says when it gives up stands in the result.
    std::panic::set_hook(Box::new(|_| {}));
    let began = Instant::now();
    let sums: Vec<(Road, Tally)> =
        args.roads.iter().map(|road| (*road, soak(&args, *road))).collect();
    let seconds = began.elapsed().as_secs_f64();
    let right = |tally: &Tally| if args.naive { tally.misfires() > 0 } else { tally.clean() };
    let passed = sums.iter().filter(|(_, tally)| right(tally)).count();
    if args.json {
        let roads: serde_json::Map<_, _> =
            sums.iter().map(|(road, tally)| (road.name().to_owned(), tally.json())).collect();
        let about = json!({
            "seed": args.seed, "n": args.n, "proofs": !args.naive, "wall_seconds": seconds,
            "client": client::PINNED, "machine": machine(), "skipped": SKIPPED, "roads": roads,
        });
        println!("{about}");
    } else {
        for (road, tally) in &sums {
            println!("{}", tally.report(road.name()));
        }
        for skipped in SKIPPED {
            println!("not played: {skipped}");
        }
        let proofs = if args.naive { ", without proofs" } else { "" };
        println!(
            "seed {}{proofs}, {seconds:.0} s, client {}, {}",
            args.seed,
            client::PINNED,
            machine()
        );
        let verdict = if passed == sums.len() { "ok" } else { "FAILED" };
        let failed = sums.len() - passed;
        println!("test result: {verdict}. {passed} passed; {failed} failed; 0 ignored");
    }
    ExitCode::from(u8::from(passed < sums.len()))
}

/// Plays the boundaries of one road.
fn soak(args: &Args, road: Road) -> Tally {
    let mut dice = Dice(args.seed ^ road.name().len() as u64);
    let all = args.scenario.map_or_else(|| Scenario::on(road), |only| vec![only]);
    let mut tally = Tally::default();
    if !all.iter().all(|scenario| Scenario::on(road).contains(scenario)) {
        return tally;
    }
    let mut stage: Option<Stage> = None;
    for (at, scenario) in dice.order(&all, args.n).into_iter().enumerate() {
        let plan = plan(args, &mut dice, at + 1, scenario);
        progress(args, road, &tally, &plan);
        let chords = dice.percent(70);
        let binary = args.binary.as_deref();
        let played = catch_unwind(AssertUnwindSafe(|| {
            let setup = Setup { road, chords, naive: args.naive, binary };
            play::play(stage.get_or_insert_with(|| Stage::new(setup)), &plan)
        }));
        let outcome = played.unwrap_or_else(|cause| play::stuck(cause.as_ref()));
        let spoilt = !outcome.faults.is_empty() || outcome.refused.is_some();
        if let Some(used) =
            stage.take_if(|used| spoilt || scenario.ends_the_stage() || used.played >= LIFE)
        {
            end(used, spoilt && !args.naive, &format!("soak-{}-{}", road.name(), plan.number));
        }
        tally.add(&scenario.to_string(), plan.number, outcome);
    }
    if let Some(used) = stage {
        end(used, false, "");
    }
    progress_done();
    tally
}

/// What chance decides of a boundary.
fn plan(args: &Args, dice: &mut Dice, number: usize, scenario: Scenario) -> Plan {
    let offset = match scenario {
        Scenario::TerminalKilled | Scenario::ClientKilled => dice.within(0, 900),
        Scenario::Clipboard | Scenario::FocusStolen => dice.within(-50, 900),
        _ => dice.within(-200, 400),
    };
    let by_chance = dice.percent(25);
    let (auto, hold) = (dice.percent(40), dice.within(300, 1800) as u64);
    let paste = !args.naive && scenario.pastes().unwrap_or(by_chance);
    Plan { number, scenario, paste, auto, offset, hold, naive: args.naive }
}

fn end(stage: Stage, keep: bool, name: &str) {
    // The mock's own last word would end the soak.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        if keep {
            stage.world.keep(name);
        }
        drop(stage);
    }));
}

fn progress(args: &Args, road: Road, tally: &Tally, plan: &Plan) {
    let mut out = std::io::stderr();
    if !out.is_terminal() {
        return;
    }
    let (done, width) = (tally.boundaries * 30 / args.n.max(1), 30);
    let bar = format!("{}{}", "#".repeat(done), ".".repeat(width - done));
    let _ = write!(
        out,
        "\r\x1b[K{:<4} [{bar}] {}/{} {} misfires, now {}",
        road.name(),
        plan.number,
        args.n,
        tally.misfires(),
        plan.scenario
    );
    let _ = out.flush();
}

fn progress_done() {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K");
    }
}

/// The processor and its cores.
fn machine() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    format!("{}, {cores} cores", model.map_or("unknown processor", |(_, model)| model.trim()))
}
