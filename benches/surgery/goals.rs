//! The goals. Memory and instructions must hold; times are only reported, because other work on the
//! machine makes them worse.

use crate::figures::Row;
use crate::goal::{self, Goal};
use crate::measure::{HALF, IMPORT, MERGE, REWRITE, ROUNDS, SCAN, TYPED};

/// The goals for these rows, as far as they were measured.
pub fn all(rows: &[Row]) -> Vec<Goal> {
    let mut goals: Vec<Goal> = goal::waited(rows, &[IMPORT, REWRITE, HALF, MERGE]).collect();
    for scan in rows.iter().filter(|row| row.name == SCAN) {
        let of = |name: &str| rows.iter().find(|row| row.size == scan.size && row.name == name);
        goals.extend(
            of(ROUNDS).zip(of(TYPED)).and_then(|(rounds, typed)| instructions(scan, rounds, typed)),
        );
    }
    let bound = "import, the operations, search: at most 64 MiB and the largest round resident";
    goals.extend(goal::memory(rows, bound));
    goals
}

/// The allowed ratio to `serde_json`'s instructions: rounds also decode and copy texts for the
/// index.
const ROUNDS_PART: f64 = 1.5;

fn instructions(scan: &Row, rounds: &Row, typed: &Row) -> Option<Goal> {
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
