//! Milliseconds from start to end, in rounds.
//!
//! Every round starts each program once, in rotating order, so that a slow phase of the machine
//! affects all. A ratio is the median over rounds of a case's time divided by the baseline's.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use rustix::fs::Advice;
use serde::Serialize;

use crate::case::Case;

/// The times of one case.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Timing {
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p99_ms: f64,
    /// The median ratio to `/bin/true`.
    pub by_true: f64,
    /// The median ratio to the empty static program.
    pub by_empty: f64,
}

/// Uncounted rounds that bring programs and files into memory.
const WARM_UP: usize = 5;

/// Runs the cases in rounds; the first is `/bin/true`, the second the empty program.
pub fn measure(cases: &[Case], rounds: usize) -> Vec<Timing> {
    for program in cases.iter().map(|case| &case.program).collect::<BTreeSet<_>>() {
        read_back(program);
    }
    let mut times: Vec<Vec<Duration>> = vec![Vec::with_capacity(rounds); cases.len()];
    for round in 0..rounds + WARM_UP {
        for turn in 0..cases.len() {
            let index = (turn + round) % cases.len();
            let taken = cases[index].time();
            if round >= WARM_UP {
                times[index].push(taken);
            }
        }
    }
    times
        .iter()
        .map(|own| Timing {
            p50_ms: quantile(&millis(own), 0.5),
            p90_ms: quantile(&millis(own), 0.9),
            p99_ms: quantile(&millis(own), 0.99),
            by_true: ratio(own, &times[0]),
            by_empty: ratio(own, &times[1]),
        })
        .collect()
}

/// Makes a program load from disk as after a boot: a file written just now is mapped up to twice as
/// fast, unlike `/bin/true`.
fn read_back(program: &Path) {
    let file = File::open(program).expect("a program");
    file.sync_all().expect("on the disk");
    rustix::fs::fadvise(&file, 0, None, Advice::DontNeed).expect("dropped");
}

/// Milliseconds, shortest first.
pub fn millis(times: &[Duration]) -> Vec<f64> {
    let mut ms: Vec<f64> = times.iter().map(|t| t.as_secs_f64() * 1e3).collect();
    ms.sort_by(f64::total_cmp);
    ms
}

/// The value below which this fraction of the sorted ones lies.
pub fn quantile(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}

fn ratio(own: &[Duration], baseline: &[Duration]) -> f64 {
    let mut ratios: Vec<f64> =
        own.iter().zip(baseline).map(|(t, b)| t.as_secs_f64() / b.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    quantile(&ratios, 0.5)
}
