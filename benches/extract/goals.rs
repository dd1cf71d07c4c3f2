//! The goals. Memory must hold; times are only reported, because other work on the machine makes
//! them worse.

use crate::figures::Row;
use crate::goal::{self, Goal};
use crate::world::{PLAN, PLAN_CLAUDE, RUN, RUN_CLAUDE};

/// The goals for these rows, as far as they were measured.
pub fn all(rows: &[Row]) -> Vec<Goal> {
    let mut goals: Vec<Goal> = goal::waited(rows, &[PLAN, RUN, PLAN_CLAUDE, RUN_CLAUDE]).collect();
    let bound = "each verb: at most 64 MiB and the largest row resident (of Claude Code's: round)";
    goals.extend(goal::memory(rows, bound));
    goals
}
