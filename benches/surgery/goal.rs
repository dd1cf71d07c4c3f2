//! A goal, and what is common to those of several benchmarks.

use std::time::Duration;

use serde::Serialize;

use crate::figures::Row;
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

/// A row's speed against that of others that run one after the other, which is told and not
/// asserted: a machine that does something else besides makes it worse.
pub fn speed(own: &Row, least: f64, against: &str, others: &[&Row]) -> Option<Goal> {
    let ratio = ratio(own, others)?;
    Some(Goal {
        what: format!("{}, {} MB: at least {least} × the speed of {against}", own.name, own.size),
        found: format!("{ratio:.2}"),
        held: ratio >= least,
        asserted: false,
    })
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

/// The row that comes nearest to what it may have resident, or is over it; `what` names the
/// bound.
pub fn memory(rows: &[Row], what: &str) -> Option<Goal> {
    let bounded = rows.iter().filter_map(|row| Some((row, row.most_kib?)));
    let parts = bounded.map(|(row, most)| (row, most, row.peak_kib as f64 / most as f64));
    let (row, most, part) = parts.max_by(|a, b| a.2.total_cmp(&b.2))?;
    Some(Goal {
        what: what.to_owned(),
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
