//! What the figures are held to. Memory and instructions must hold; times are reported,
//! since a machine that does something else besides makes them worse.

use std::time::Duration;

use serde::Serialize;

use crate::Row;
use crate::measure::{COPY, COPY_TWO, DIGEST, INSCRIBE, MERGE, REWRITE, ROUNDS, SCAN, TYPED};
use crate::timing::quantile;

/// One line of the list.
#[derive(Debug, Serialize)]
pub struct Goal {
    pub what: String,
    /// What was found.
    pub found: String,
    pub held: bool,
    /// Whether the run fails where it isn't held.
    pub asserted: bool,
}

/// All goals, for these rows; those whose measures are not there are left out.
pub fn all(rows: &[Row]) -> Vec<Goal> {
    let mut goals = Vec::new();
    let mut sizes: Vec<u64> = rows.iter().map(|row| row.size).collect();
    sizes.dedup();
    for size in sizes {
        let of = |name: &str| rows.iter().find(|row| row.size == size && row.name == name);
        let speed = |name, least: f64, against: &str, others: &[&str]| {
            let own = of(name)?;
            let others: Vec<&Row> = others.iter().filter_map(|other| of(other)).collect();
            let ratio = ratio(own, &others)?;
            Some(Goal {
                what: format!("{name}, {size} MB: at least {least} × the speed of {against}"),
                found: format!("{ratio:.2}"),
                held: ratio >= least,
                asserted: false,
            })
        };
        goals.extend(speed(SCAN, 1.0, "serde_json typed per line", &[TYPED]));
        goals.extend(speed(ROUNDS, 1.0, "serde_json typed per line", &[TYPED]));
        goals.extend(speed(INSCRIBE, 0.5, "`sha256sum` and `cp`", &[DIGEST, COPY]));
        goals.extend(speed(REWRITE, 0.5, "`cp`", &[COPY]));
        goals.extend(speed(MERGE, 0.5, "`cp` of both", &[COPY_TWO]));
        goals.extend(of(SCAN).zip(of(ROUNDS)).zip(of(TYPED)).and_then(instructions));
    }
    goals.extend(memory(rows));
    goals
}

/// Median over the rounds: the others' time, one after the other, by the own of the same round.
fn ratio(own: &Row, others: &[&Row]) -> Option<f64> {
    let first = others.first()?;
    let mut ratios: Vec<f64> = (0..first.times.len())
        .map(|round| {
            let theirs: Duration = others.iter().map(|row| row.times[round]).sum();
            theirs.as_secs_f64() / own.times[round].as_secs_f64()
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    Some(quantile(&ratios, 0.5))
}

/// What the rounds may take of `serde_json`'s instructions: the texts that the index keeps are
/// decoded and copied, which it leaves in the line.
const ROUNDS_PART: f64 = 1.5;

fn instructions(((scan, rounds), typed): ((&Row, &Row), &Row)) -> Option<Goal> {
    let (scan, rounds, typed) = (scan.instructions?, rounds.instructions?, typed.instructions?);
    let part = |n: u64| n as f64 / typed as f64;
    let what = format!(
        "scan takes no more instructions than serde_json typed per line, rounds at most {ROUNDS_PART} of them"
    );
    Some(Goal {
        what,
        found: format!("{:.2} and {:.2} of {typed}", part(scan), part(rounds)),
        held: part(scan) <= 1.0 && part(rounds) <= ROUNDS_PART,
        asserted: true,
    })
}

fn memory(rows: &[Row]) -> Option<Goal> {
    let bounded = rows.iter().filter_map(|row| Some((row, row.most_kib?)));
    let parts = bounded.map(|(row, most)| (row, most, row.peak_kib as f64 / most as f64));
    let (row, most, part) = parts.max_by(|a, b| a.2.total_cmp(&b.2))?;
    Some(Goal {
        what: "inscribe, the operations, search: at most 64 MiB and the largest round resident"
            .into(),
        found: format!(
            "{} of {} MiB ({}, {} MB)",
            row.peak_kib / 1024,
            most / 1024,
            row.name,
            row.size
        ),
        held: part <= 1.0,
        asserted: true,
    })
}
