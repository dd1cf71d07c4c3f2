//! One operation: undisturbed, repeated, then killed at every writing call.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::kill::judge::Around;
use crate::kill::operations::{Operation, root};
use crate::support::disk::Tree;
use crate::support::hook::Answer;
use crate::support::process;
use crate::support::trace::{Point, ends, strace};

/// Kills the operation at each point. Returns each kill that left a fault, with the fault.
pub fn play(operation: &Operation) -> Vec<String> {
    let strace = strace().unwrap_or_else(|why| panic!("{why}"));
    let strace = strace.as_path();
    let mut stage = Stage { root: root(&operation.hook), operation, strace, leaves: true };
    stage.end_leftovers();
    let (around, codes, points) = stage.undisturbed();
    let mut faults = Vec::new();
    if points.is_empty() {
        faults.push("it writes nothing, so that nothing was tried".to_owned());
    }
    for point in &points {
        if let Some(fault) = stage.kill(&around, codes, point) {
            let Point { call, number, line, .. } = point;
            faults.push(format!("killed at {call} {number}: {line}\n    {fault}"));
        }
    }
    faults
}

struct Stage<'a> {
    root: PathBuf,
    operation: &'a Operation,
    strace: &'a Path,
    /// Whether the operation leaves processes behind.
    leaves: bool,
}

impl Stage<'_> {
    fn undisturbed(&mut self) -> (Around, [Option<i32>; 2], Vec<Point>) {
        let Operation { run, .. } = self.operation;
        let old = Tree::read(&self.root);
        let log = tempfile::NamedTempFile::new().expect("a log");
        let (first, points, swaps) = run.watched(self.strace, &self.root, log.path());
        assert!(!first.stderr.contains("panicked"), "{first:?}");
        let points = if self.operation.session { points } else { ends(points) };
        let mut left = self.end_leftovers();
        let new = Tree::read(&self.root);
        let second = run.plainly();
        left |= self.end_leftovers();
        let twice = Tree::read(&self.root);
        // The fake client is a child of `install` that survives a kill.
        self.leaves = left || !self.operation.session;
        (
            Around::of(old, new, &twice, swaps, run.args.first().is_some_and(|verb| verb == "job")),
            [first.code, second.code],
            points,
        )
    }

    fn kill(&self, around: &Around, codes: [Option<i32>; 2], point: &Point) -> Option<String> {
        let Operation { hook, run, session } = self.operation;
        around.old.put(&self.root);
        let reached = run.killed(self.strace, point);
        self.end_leftovers();
        if !reached {
            return Some("it did not come there again".to_owned());
        }
        let killed = Tree::read(&self.root);
        if let Some(torn) = around.torn(&killed) {
            return Some(torn);
        }
        let again = run.plainly();
        self.end_leftovers();
        if !codes.contains(&again.code) || again.stderr.contains("panicked") {
            return Some(format!("the next one: {again:?}"));
        }
        let after = Tree::read(&self.root);
        if let Some(strange) = around.not_reached(&after) {
            return Some(format!("after the next one {strange}"));
        }
        if !session {
            return None;
        }
        let status = hook.raw(&["status", "--json", "--session", &hook.session], b"");
        if !answers(&status) || status.stdout.is_empty() {
            return Some(format!("after the next one status says {status:?}"));
        }
        // The next call may also be another one.
        killed.put(&self.root);
        let call = hook.read();
        self.end_leftovers();
        if !answers(&call) {
            return Some(format!("PreToolUse says {call:?}"));
        }
        Tree::read(&self.root).whole().err()
    }

    /// Ends processes that the operation left running, such as a boundary's waiter; `true` if there
    /// were any. Their HOME, which is unique, identifies them.
    fn end_leftovers(&self) -> bool {
        if !self.leaves {
            return false;
        }
        let home = self.root.join("home");
        let began = Instant::now();
        // Calls from `install` to the client end by themselves; a waiter would wait long.
        let patience = Duration::from_secs(if self.operation.session { 0 } else { 5 });
        let mut any = false;
        loop {
            let left = process::with_home(&home);
            if left.is_empty() {
                return any;
            }
            any = true;
            assert!(began.elapsed() < Duration::from_secs(20), "{left:?} can't be ended");
            if began.elapsed() >= patience {
                let pids = left.iter().filter_map(|found| i32::try_from(found.pid).ok());
                for pid in pids.filter_map(Pid::from_raw) {
                    // It may have just ended.
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Whether a session's call got a valid answer.
fn answers(answer: &Answer) -> bool {
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
    answer.code == Some(0)
        && answer.stderr.is_empty()
        && (answer.stdout.is_empty() || json(&answer.stdout))
}
