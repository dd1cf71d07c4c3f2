//! The figures of one run: what was measured, on what, and how they are told.

use std::time::Duration;

use serde::Serialize;

use crate::args::Args;
use crate::goal::Goal;
use crate::machine::Machine;
use crate::measure::Measure;
use crate::page::{self, Section};
use crate::session::Session;
use crate::{instructions, memory, timing};

/// One line of the table.
#[derive(Debug, Serialize)]
pub struct Row {
    pub name: &'static str,
    #[serde(skip)]
    pub about: &'static str,
    /// MB of session that it was asked for.
    pub size: u64,
    /// Bytes of session that it works on.
    pub bytes: u64,
    pub p50_ms: f64,
    pub least_ms: f64,
    pub most_ms: f64,
    /// Bytes a second at the median.
    pub speed: f64,
    pub peak_kib: u64,
    /// KiB that it may have resident, where there is a goal.
    pub most_kib: Option<u64>,
    /// Of the program, none of the kernel's, where they were counted.
    pub instructions: Option<u64>,
    /// In the rounds' order.
    #[serde(skip)]
    pub times: Vec<Duration>,
}

/// A session that was measured on.
#[derive(Debug, Serialize)]
pub struct Size {
    pub megabytes: u64,
    pub rows: u64,
    pub rounds: u64,
    /// Bytes of the largest round, and of the largest row.
    pub largest_round: u64,
    pub largest_row: u64,
    pub times: usize,
}

/// All that came of one run.
#[derive(Debug, Serialize)]
pub struct Run {
    pub command: String,
    pub machine: Machine,
    pub sizes: Vec<Size>,
    pub rows: Vec<Row>,
    pub goals: Vec<Goal>,
    /// What was not measured, and why.
    pub missing: Vec<String>,
}

impl Size {
    /// That of a session, each program on it started so many times.
    pub fn of(megabytes: u64, session: &Session, times: usize) -> Self {
        Self {
            megabytes,
            rows: session.rows,
            rounds: session.rounds,
            largest_round: session.largest,
            largest_row: session.largest_row,
            times,
        }
    }
}

impl Run {
    /// Puts the rows beside what they are held to.
    pub fn of(args: &Args, found: Found, goals: Vec<Goal>) -> Self {
        let Found { sizes, rows, missing } = found;
        Self {
            command: args.command.clone(),
            machine: Machine::here(&args.binary, &args.target),
            sizes,
            rows,
            goals,
            missing,
        }
    }

    /// Prints, writes the section where that is asked, and says whether all holds that is
    /// asserted.
    ///
    /// # Errors
    /// The section can't be written.
    pub fn tell(&self, args: &Args, section: &Section) -> Result<bool, String> {
        if args.json {
            println!("{}", serde_json::to_string_pretty(self).map_err(|e| e.to_string())?);
        } else {
            println!("{}\n\n{}", self.machine, page::terminal(self));
        }
        for why in &self.missing {
            eprintln!("bench: not measured: {why}");
        }
        if args.write {
            let path =
                page::write(self, section).map_err(|e| format!("docs/benchmarks.md: {e}"))?;
            eprintln!("bench: wrote {}", path.display());
        }
        Ok(self.missing.is_empty() && self.goals.iter().all(|goal| goal.held || !goal.asserted))
    }
}

/// What came of the sizes so far.
#[derive(Debug, Default)]
pub struct Found {
    pub sizes: Vec<Size>,
    pub rows: Vec<Row>,
    pub missing: Vec<String>,
}

/// Every round starts each program once, in an order that rotates, so that what slows the
/// machine down for a while slows them all.
/// Instructions are counted where `counted` says so.
pub fn measured(
    args: &Args,
    size: u64,
    rounds: usize,
    measures: Vec<Measure>,
    counted: &dyn Fn(&str) -> bool,
) -> Vec<Row> {
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
            let counts = args.quick && counted(m.name);
            m.prepare();
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
