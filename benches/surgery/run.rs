//! The figures of one run, and what was measured.

use std::time::Duration;

use serde::Serialize;

use crate::args::Args;
use crate::figures::{Row, Size};
use crate::goal::Goal;
use crate::machine::Machine;
use crate::measure::Measure;
use crate::{instructions, memory, timing};

#[derive(Debug, Serialize)]
pub struct Run {
    pub command: String,
    pub machine: Machine,
    pub sizes: Vec<Size>,
    pub rows: Vec<Row>,
    pub goals: Vec<Goal>,
    /// Skipped measures, and why.
    pub missing: Vec<String>,
}

impl Run {
    /// Compares the rows with their goals.
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
}

/// The figures of the sizes so far.
#[derive(Debug, Default)]
pub struct Found {
    pub sizes: Vec<Size>,
    pub rows: Vec<Row>,
    pub missing: Vec<String>,
}

/// Every round starts each program once, in rotating order, so that a slow phase of the machine
/// affects all. Instructions are counted where `counted` says so.
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
            memory::peak(&m.case).resident_kib
        })
        .collect();
    let counted: Vec<Option<u64>> = measures
        .iter()
        .map(|m| {
            // Valgrind makes everything fifty times slower.
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
        }
    })
    .collect()
}
