//! A goal, and what the goals of several benchmarks share.

use serde::Serialize;

use crate::figures::Row;

#[derive(Debug, Serialize)]
pub struct Goal {
    pub what: String,
    pub found: String,
    pub held: bool,
    /// Whether the run fails if it does not hold.
    pub asserted: bool,
}

/// MB of the session for timing verbs, and the milliseconds a person waits.
const MEGABYTES: u64 = 50;
const WAIT: f64 = 1000.0;

/// The named rows against the time a person waits. Only reported, because other work on the machine
/// makes it worse.
pub fn waited(rows: &[Row], names: &[&str]) -> impl Iterator<Item = Goal> {
    let timed = |row: &&Row| row.size == MEGABYTES && names.contains(&row.name);
    rows.iter().filter(timed).map(|row| Goal {
        what: format!("{}, {MEGABYTES} MB: at most {WAIT:.0} ms", row.name),
        found: format!("{:.0} ms", row.p50_ms),
        held: row.p50_ms <= WAIT,
        asserted: false,
    })
}

/// The row closest to its memory bound, or above it; `what` names the bound.
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
