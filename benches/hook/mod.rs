//! A whole hook process for each kind of event, beside `/bin/true`: with transcripts of several
//! lengths, with and without the client's module, and the seal.

pub mod counts;
mod seal;
mod transcript;
mod world;

use std::path::Path;

use counts::{Accepted, BYTES_ROOM};
use world::{RESULT, World};

use crate::harness::report::{Goal, tell};
use crate::harness::{Bench, Case, Row, measure};

/// Measures and prints; returns whether the counts hold.
///
/// # Errors
/// What can't be prepared.
pub fn run(bench: &Bench) -> Result<bool, String> {
    let sizes = if bench.quick || bench.accept { [1, 50] } else { [1, 1024] };
    let rounds = if bench.quick || bench.accept { 50 } else { 400 };
    let world = World::new(bench, &sizes).map_err(|why| why.to_string())?;
    let mut cases: Vec<Case> = sizes.iter().flat_map(|mb| world.cases(*mb)).collect();
    let seals = seal::cases(&cases[0], &bench.work);
    cases.insert(0, cases[0].instead("/bin/true", Path::new("/bin/true")));
    cases.extend(seals);
    let rows = measure(cases, rounds);
    let now = Accepted::of(&rows[1..], &bench.target);
    let mut goals = vec![growth(&rows), one_process(&rows), idle(&rows)];
    if bench.accept {
        now.write()?;
    } else if bench.quick {
        let over = now.exceeded(&Accepted::read()?);
        if !over.is_empty() {
            eprintln!(
                "bench: to accept higher counts, run ./bench --accept and say in the commit what they buy"
            );
        }
        goals.push(Goal::none("no count is above benches/hook/counts.json", &over));
    }
    tell(bench, &format!("{rounds} rounds"), &rows, &goals)
}

/// The counts must be equal at every size of transcript.
fn growth(rows: &[Row]) -> Goal {
    let mut grown = Vec::new();
    for row in rows {
        let least = rows.iter().find(|other| other.case.name == row.case.name).expect("itself");
        let (now, then) = (&row.trace, &least.trace);
        let instructions = least.instructions.unwrap_or(0);
        for (what, now, then, room) in [
            ("bytes read", now.bytes_read, then.bytes_read, BYTES_ROOM),
            ("system calls", now.system_calls, then.system_calls, 0),
            ("files opened", now.files_opened, then.files_opened, 0),
            ("instructions", row.instructions.unwrap_or(0), instructions, instructions / 100),
        ] {
            if now > then + room {
                grown.push(format!("{}: {now} {what} instead of {then}", row.case.title()));
            }
        }
    }
    Goal::none("no count grows with the transcript", &grown)
}

fn one_process(rows: &[Row]) -> Goal {
    let wrong = rows.iter().filter(|row| row.case.name.contains("ToolUse"));
    let wrong = wrong.filter(|row| (row.trace.programs, row.trace.forks) != (1, 0));
    let wrong: Vec<_> = wrong.map(|row| row.case.title()).collect();
    Goal::none("the hook of a tool call starts no other process", &wrong)
}

fn idle(rows: &[Row]) -> Goal {
    let quiet = |row: &&Row| row.case.name.starts_with("PreToolUse") || row.case.name == RESULT;
    let wrong = rows.iter().filter(quiet).filter(|row| {
        // The hook removes the module's reading after using it.
        let taken = u64::from(row.case.before.is_some());
        let trace = &row.trace;
        [trace.syncs, trace.locks, trace.changes, trace.removed] != [0, 0, taken, taken]
    });
    let wrong: Vec<_> = wrong.map(|row| row.case.title()).collect();
    Goal::none("a tool call that changes nothing syncs, locks and writes nothing", &wrong)
}
