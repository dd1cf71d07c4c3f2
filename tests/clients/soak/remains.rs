//! Checks for leftovers: bytes in other terminals, processes, locks, open tokens, and a clipboard
//! with a text that is not the user's.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::soak::stage::Stage;
use crate::soak::tally::{Fault, Outcome};
use crate::support::process;

/// Limit for a process to end after its work.
const PATIENCE: Duration = Duration::from_secs(8);

/// Reports bytes that reached another terminal than the client's.
pub fn strays(stage: &Stage, outcome: &mut Outcome) {
    for (name, bytes) in stage.strays() {
        let bytes = without_reports(&bytes);
        if !bytes.is_empty() {
            let kind = match name {
                "decoy" => "keys in another window",
                _ => "keys into what came after the client",
            };
            let shown = String::from_utf8_lossy(&bytes).into_owned();
            outcome.fault(Fault::Misfire(kind), format!("{shown:?}"));
        }
    }
}

/// Removes control sequences. The terminal sends them for a killed client (focus, kind); no
/// carrier key sends one.
fn without_reports(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut rest = bytes;
    while let Some((first, tail)) = rest.split_first() {
        let report = rest.strip_prefix(b"\x1b[").and_then(|inside| {
            let end = inside.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
            Some(&inside[end + 1..])
        });
        if report.is_none() {
            kept.push(*first);
        }
        rest = report.unwrap_or(tail);
    }
    kept
}

/// The tokens of unfinished boundaries.
pub fn open_tokens(stage: &Stage) -> Vec<String> {
    let tokens = stage.tokens();
    let is_over = |step: &serde_json::Value| {
        step.as_str().is_some_and(|step| ["acknowledged", "failed", "withdrawn"].contains(&step))
    };
    let open = tokens.iter().filter(|t| !is_over(&t["step"]));
    open.map(|token| format!("{} by {}", token["step"], token["carrier"])).collect()
}

/// Checks processes, tokens and locks.
pub fn left_behind(stage: &Stage, outcome: &mut Outcome) {
    // brain-guard still watches an unfinished boundary.
    if outcome.refused.is_none() || open_tokens(stage).is_empty() {
        processes(stage, outcome);
    }
    let open = open_tokens(stage);
    if !open.is_empty() && outcome.refused.is_none() && !outcome.killed {
        outcome.fault(Fault::Left("an open token"), open.join(", "));
    }
    let mut locks = Vec::new();
    find_locks(&stage.world.state(), &mut locks);
    for path in locks {
        let held = File::open(&path).is_ok_and(|file| file.try_lock().is_err());
        if held {
            outcome.fault(Fault::Left("a held lock"), path.display().to_string());
        }
    }
}

fn processes(stage: &Stage, outcome: &mut Outcome) {
    let gone = process::poll(PATIENCE, Duration::from_millis(50), || {
        stage.own_processes().is_empty().then_some(())
    });
    if gone.is_none() {
        let found: Vec<_> = stage.own_processes().into_iter().map(|p| p.command).collect();
        outcome.fault(Fault::Left("a process"), found.join("; "));
    }
}

fn find_locks(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find_locks(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "lock") {
            found.push(path);
        }
    }
}
