//! The goals. Counts must hold; times are only reported, because other work on the machine makes
//! them worse.

use serde::Serialize;

use crate::Row;
use crate::seal::{FULL, SMALL};
use crate::world::RESULT;

#[derive(Debug, Serialize)]
pub struct Goal {
    pub what: String,
    pub found: String,
    pub held: bool,
    /// Whether the run fails if it does not hold.
    pub asserted: bool,
}

/// The maximum resident KiB of a process.
const MEMORY_KIB: u64 = 4 * 1024;

/// The goals for these rows.
pub fn all(rows: &[Row]) -> Vec<Goal> {
    let decisions = || rows.iter().filter(|r| r.case.name.starts_with("PreToolUse"));
    let worst = |of: fn(&Row) -> f64| {
        let worst = decisions().max_by(|a, b| of(a).total_cmp(&of(b))).expect("a decision");
        (of(worst), worst.case.title())
    };
    let mut goals = Vec::new();
    for (most, against, of) in [
        (1.3, "`/bin/true`", (|r| r.timing.by_true) as fn(&Row) -> f64),
        (3.0, "an empty static program", |r| r.timing.by_empty),
    ] {
        let (ratio, case) = worst(of);
        goals.push(Goal {
            what: format!("a PreToolUse decision takes at most {most} of the time of {against}"),
            found: format!("{ratio:.2} ({case})"),
            held: ratio <= most,
            asserted: false,
        });
    }
    goals.push(sealing(rows));
    goals.push(growth(rows));
    let fullest = decisions().max_by_key(|r| r.peak.resident_kib).expect("a decision");
    goals.push(Goal {
        what: "a PreToolUse decision has at most 4 MiB resident".into(),
        found: format!("{} KiB ({})", fullest.peak.resident_kib, fullest.case.title()),
        held: fullest.peak.resident_kib <= MEMORY_KIB,
        asserted: false,
    });
    goals.push(one_process(rows));
    goals.push(idle(rows));
    goals
}

/// The cost of the full file above that of a file without work to do.
fn sealing(rows: &[Row]) -> Goal {
    let half = |name: &str| {
        let row = rows.iter().find(|r| r.case.name == name).expect("the seal's row");
        row.timing.p50_ms
    };
    let (full, small) = (half(FULL), half(SMALL));
    Goal {
        what: "the seal of a file of 3,000 words takes at most 5 ms".into(),
        found: format!("{:.2} ms, {full:.2} ms with its process", full - small),
        held: full - small <= 5.0,
        asserted: false,
    }
}

/// The counts must be equal at every size of transcript.
fn growth(rows: &[Row]) -> Goal {
    let mut grown = Vec::new();
    let mut last = 0;
    for row in rows {
        let same = |r: &&Row| r.case.key() == row.case.key();
        let least = rows.iter().find(same).expect("itself");
        last = last.max(row.case.megabytes);
        for (what, now, then) in [
            ("bytes read", row.calls.bytes_read, least.calls.bytes_read),
            ("system calls", row.calls.system_calls, least.calls.system_calls),
            ("files opened", row.calls.files_opened, least.calls.files_opened),
        ] {
            // Times in the state vary by a few digits.
            let room = if what == "bytes read" { 32 } else { 0 };
            if now > then + room {
                grown.push(format!("{}: {now} {what} instead of {then}", row.case.title()));
            }
        }
        if let (Some(now), Some(then)) = (row.instructions, least.instructions)
            && now as f64 > then as f64 * 1.01
        {
            grown.push(format!("{}: {now} instructions instead of {then}", row.case.title()));
        }
    }
    let sizes = rows.iter().map(|r| r.case.megabytes).filter(|mb| *mb > 0);
    let first = sizes.min().unwrap_or_default();
    Goal {
        what: format!(
            "{first} MB to {last} MB of transcript: no more bytes read, system calls, files opened, instructions (1 %)"
        ),
        held: grown.is_empty(),
        found: if grown.is_empty() { "none".into() } else { grown.join("; ") },
        asserted: true,
    }
}

/// A call's hooks are one process each, and start no other.
fn one_process(rows: &[Row]) -> Goal {
    let hooks = include_str!("../../hooks/hooks.json");
    let hooks: serde_json::Value = serde_json::from_str(hooks).expect("hooks.json");
    let mut wrong = Vec::new();
    for event in ["PreToolUse", "PostToolUse"] {
        let entries: Vec<_> = hooks["hooks"][event]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|group| group["hooks"].as_array().cloned().unwrap_or_default())
            .collect();
        // With `args` the client starts the program itself, otherwise through a shell.
        if entries.len() != 1 || !entries[0]["args"].is_array() {
            wrong.push(format!("hooks.json has not one program for {event}"));
        }
    }
    for row in rows.iter().filter(|r| r.case.name.contains("ToolUse")) {
        if row.calls.programs != 1 || row.calls.forks != 0 {
            let (programs, forks) = (row.calls.programs, row.calls.forks);
            wrong.push(format!("{}: {programs} programs, {forks} forks", row.case.title()));
        }
    }
    Goal {
        what: "a tool call costs one process before it and one after it, no shell".into(),
        held: wrong.is_empty(),
        found: if wrong.is_empty() { "1 and 1".into() } else { wrong.join("; ") },
        asserted: true,
    }
}

/// A call that changes nothing writes nothing.
fn idle(rows: &[Row]) -> Goal {
    let mut wrong = Vec::new();
    for row in
        rows.iter().filter(|r| r.case.name.starts_with("PreToolUse") || r.case.name == RESULT)
    {
        // The hook removes the module's reading after using it.
        let taken = u64::from(row.case.lay.is_some());
        let calls = &row.calls;
        if calls.syncs != 0 || calls.locks != 0 || calls.changes != taken || calls.removed != taken
        {
            wrong.push(format!(
                "{}: {} syncs, {} locks, {} changes (due: {taken})",
                row.case.title(),
                calls.syncs,
                calls.locks,
                calls.changes
            ));
        }
    }
    Goal {
        what: "a tool call that changes nothing: no fsync, no lock, no write".into(),
        held: wrong.is_empty(),
        found: if wrong.is_empty() { "none".into() } else { wrong.join("; ") },
        asserted: true,
    }
}
