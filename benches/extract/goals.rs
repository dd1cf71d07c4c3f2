//! What the figures are held to. Memory must hold; times are reported, since a machine that
//! does something else besides makes them worse.

use crate::figures::Row;
use crate::goal::{self, Goal};
use crate::world::{COPY, COPY_CLAUDE, PLAN, PLAN_CLAUDE, RUN, RUN_CLAUDE, TYPED, TYPED_CLAUDE};

/// All goals, for these rows; those whose measures are not there are left out.
pub fn all(rows: &[Row]) -> Vec<Goal> {
    let mut goals = Vec::new();
    let mut sizes: Vec<u64> = rows.iter().map(|row| row.size).collect();
    sizes.dedup();
    for size in sizes {
        let of = |name: &str| rows.iter().find(|row| row.size == size && row.name == name);
        let speed = |name, least, against: &str, other| {
            goal::speed(of(name)?, least, against, &[of(other)?])
        };
        goals.extend(speed(PLAN, 1.0, "serde_json typed per line", TYPED));
        goals.extend(speed(RUN, 0.5, "`cp`", COPY));
        goals.extend(speed(PLAN_CLAUDE, 1.0, "serde_json typed per line", TYPED_CLAUDE));
        goals.extend(speed(RUN_CLAUDE, 0.5, "`cp`", COPY_CLAUDE));
    }
    let bound = "each verb: at most 64 MiB and the largest row resident (of Claude Code's: round)";
    goals.extend(goal::memory(rows, bound));
    goals
}
