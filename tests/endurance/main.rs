//! The soak: many boundaries of the real client in tmux and in an xterm, each with a disturbance,
//! and a count of all faults. `tests/soak` runs it long, `cargo test` short.
//!
//! With `--without-proofs`, the soak itself types `/clear` and Enter at every Stop hook. The count
//! must then not stay at zero, or it would prove nothing.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::exit,
    reason = "the soak is a program of its own: it starts processes, waits, and prints"
)]

mod agent;
mod args;
mod arrival;
mod dialog;
mod disturb;
mod judge;
mod naive;
mod play;
mod remains;
mod scenario;
mod stage;
mod tally;

include!("../e2e/borrowed.rs");

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

/// Boundaries per client; then a new client starts with new random choices.
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
    // The message of a failed wait is part of the result.
    std::panic::set_hook(Box::new(|_| {}));
    let began = Instant::now();
    let mut runs: Vec<Run> =
        args.roads.iter().map(|road| Run::of(&args, *road, args.naive, args.n)).collect();
    if args.short {
        runs.extend(args.roads.iter().map(|road| Run::control(&args, *road)));
    }
    for run in &mut runs {
        run.soak(&args);
    }
    let seconds = began.elapsed().as_secs_f64();
    let passed = runs.iter().filter(|run| run.right()).count();
    if args.json {
        let roads: serde_json::Map<_, _> =
            runs.iter().map(|run| (run.name(), run.tally.json())).collect();
        let about = json!({
            "seed": args.seed, "n": args.n, "wall_seconds": seconds, "client": client::PINNED,
            "machine": machine(), "skipped": SKIPPED, "runs": roads,
        });
        println!("{about}");
    } else {
        for run in &runs {
            println!("{}", run.tally.report(&run.name()));
        }
        for skipped in SKIPPED {
            println!("not played: {skipped}");
        }
        println!("seed {}, {seconds:.0} s, client {}, {}", args.seed, client::PINNED, machine());
        let verdict = if passed == runs.len() { "ok" } else { "FAILED" };
        println!(
            "test result: {verdict}. {passed} passed; {} failed; 0 ignored",
            runs.len() - passed
        );
    }
    ExitCode::from(u8::from(passed < runs.len()))
}

/// The boundaries in one kind of terminal, with our carrier or without proofs.
struct Run {
    road: Road,
    naive: bool,
    dice: Dice,
    order: Vec<Scenario>,
    tally: Tally,
}

impl Run {
    fn of(args: &Args, road: Road, naive: bool, n: usize) -> Self {
        let mut dice = Dice(args.seed ^ road.name().len() as u64);
        let all = args.scenario.map_or_else(|| Scenario::on(road), |only| vec![only]);
        let played = all.iter().all(|scenario| Scenario::on(road).contains(scenario));
        let order = if played { dice.order(&all, n) } else { Vec::new() };
        Self { road, naive, dice, order, tally: Tally::default() }
    }

    /// Three boundaries that must misfire without proofs.
    fn control(args: &Args, road: Road) -> Self {
        let order = vec![Scenario::DraftLine, Scenario::DraftLines, Scenario::AgentDialog];
        Self { order, ..Self::of(args, road, true, 0) }
    }

    fn name(&self) -> String {
        format!("{}{}", self.road.name(), if self.naive { ", without proofs" } else { "" })
    }

    /// Whether the run has the expected result: clean, or misfires for a control.
    fn right(&self) -> bool {
        if self.naive { self.tally.misfires() > 0 } else { self.tally.clean() }
    }

    fn soak(&mut self, args: &Args) {
        let mut stage: Option<Stage> = None;
        for at in 0..self.order.len() {
            let plan = plan(&mut self.dice, at + 1, self.order[at], self.naive);
            self.progress(&plan);
            // Without a chord, nothing is cleared under X11.
            let chords = self.road == Road::X11 || self.dice.percent(70);
            let setup = Setup {
                road: self.road,
                chords,
                naive: self.naive,
                binary: args.binary.as_deref(),
            };
            let played = catch_unwind(AssertUnwindSafe(|| {
                play::play(stage.get_or_insert_with(|| Stage::new(setup)), &plan)
            }));
            let outcome = played.unwrap_or_else(|cause| play::stuck(cause.as_ref()));
            let spoilt = !outcome.faults.is_empty() || outcome.refused.is_some();
            let over =
                |used: &Stage| spoilt || plan.scenario.ends_the_stage() || used.played >= LIFE;
            if let Some(used) = stage.take_if(|used| over(used)) {
                let name = format!("soak-{}-{}", self.road.name(), plan.number);
                end(used, spoilt && !self.naive, &name);
            }
            self.tally.add(&plan.scenario.to_string(), plan.number, outcome);
        }
        if let Some(used) = stage {
            end(used, false, "");
        }
        if std::io::stderr().is_terminal() {
            eprint!("\r\x1b[K");
        }
    }

    fn progress(&self, plan: &Plan) {
        let mut out = std::io::stderr();
        if !out.is_terminal() {
            return;
        }
        let (done, width) = (self.tally.boundaries * 30 / self.order.len().max(1), 30);
        let bar = format!("{}{}", "#".repeat(done), ".".repeat(width - done));
        // A closed terminal must not stop the run.
        let _ = write!(
            out,
            "\r\x1b[K{} [{bar}] {}/{} {} misfires, now {}",
            self.name(),
            plan.number,
            self.order.len(),
            self.tally.misfires(),
            plan.scenario
        );
        let _ = out.flush();
    }
}

/// Makes the random choices of a boundary.
fn plan(dice: &mut Dice, number: usize, scenario: Scenario, naive: bool) -> Plan {
    let offset = match scenario {
        Scenario::TerminalKilled | Scenario::ClientKilled => dice.within(0, 900),
        // Without proofs the keys come right at the turn's end, so the dialog must open before.
        Scenario::AgentDialog if naive => dice.within(-400, -200),
        Scenario::Clipboard | Scenario::FocusStolen => dice.within(-50, 900),
        _ => dice.within(-200, 400),
    };
    let by_chance = dice.percent(25);
    let (auto, hold) = (dice.percent(40), dice.within(300, 1800) as u64);
    let paste = !naive && scenario.pastes().unwrap_or(by_chance);
    Plan { number, scenario, paste, auto, offset, hold, naive }
}

fn end(stage: Stage, keep: bool, name: &str) {
    // A panic of the dropped mock must not end the soak.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        if keep {
            stage.world.keep(name);
        }
        drop(stage);
    }));
}

/// The processor and its number of cores.
fn machine() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    format!("{}, {cores} cores", model.map_or("unknown processor", |(_, model)| model.trim()))
}
