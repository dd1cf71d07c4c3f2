//! What the figures are held to. Memory must hold; times are reported, since a machine that
//! does something else besides makes them worse.

use crate::figures::Row;
use crate::goal::{self, Goal};
use crate::world::{PLAN, PLAN_CLAUDE, RUN, RUN_CLAUDE};

/// All goals, for these rows; those whose measures are not there are left out.
pub fn all(rows: &[Row]) -> Vec<Goal> {
    let mut goals: Vec<Goal> = goal::waited(rows, &[PLAN, RUN, PLAN_CLAUDE, RUN_CLAUDE]).collect();
    let bound = "each verb: at most 64 MiB and the largest row resident (of Claude Code's: round)";
    goals.extend(goal::memory(rows, bound));
    goals
}
