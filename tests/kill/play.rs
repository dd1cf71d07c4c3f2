//! One operation: undisturbed, repeated, then killed at every writing call.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};

use crate::disk::Tree;
use crate::harness::Answer;
use crate::judge::Around;
use crate::operations::{Operation, root};
use crate::trace::{Point, ends};

/// The result of an operation.
#[derive(Debug)]
pub struct Outcome {
    pub name: &'static str,
    pub kills: usize,
    /// Each kill that left a fault, and the fault.
    pub faults: Vec<String>,
    pub took: Duration,
}

pub fn play(name: &'static str, operation: &Operation, strace: &Path) -> Outcome {
    let began = Instant::now();
    let mut stage = Stage { root: root(&operation.hook), operation, strace, leaves: true };
    stage.end_leftovers();
    let (around, codes, points) = stage.undisturbed();
    let mut outcome =
        Outcome { name, kills: points.len(), faults: Vec::new(), took: Duration::ZERO };
    if points.is_empty() {
        outcome.faults.push("it writes nothing, so that nothing was tried".to_owned());
    }
    for point in &points {
        if let Some(fault) = stage.kill(&around, codes, point) {
            let Point { call, number, line, .. } = point;
            outcome.faults.push(format!("killed at {call} {number}: {line}\n    {fault}"));
        }
    }
    outcome.took = began.elapsed();
    outcome
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
        (Around::of(old, new, &twice, swaps), [first.code, second.code], points)
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
        let home = [b"HOME=".as_slice(), home.as_os_str().as_encoded_bytes(), b"\0"].concat();
        let found = |pid: &u32| {
            // Children that another thread waits for have another home.
            let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ.windows(home.len()).any(|part| part == home)
        };
        let began = Instant::now();
        // Calls from `install` to the client end by themselves; a waiter would wait long.
        let patience = Duration::from_secs(if self.operation.session { 0 } else { 5 });
        let mut any = false;
        loop {
            let left: Vec<u32> = orphans().into_iter().filter(found).collect();
            if left.is_empty() {
                return any;
            }
            any = true;
            std::thread::sleep(Duration::from_millis(1));
            assert!(began.elapsed() < Duration::from_secs(20), "{left:?} can't be ended");
            for pid in left.into_iter().filter(|_| began.elapsed() >= patience) {
                if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
                    // It may have just ended.
                    let _ = kill_process(pid, Signal::KILL);
                    let _ = waitpid(Some(pid), WaitOptions::empty());
                }
            }
        }
    }
}

/// Makes orphans of the operations children of this process.
///
/// # Errors
/// The system's.
pub fn adopt() -> std::io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

fn orphans() -> Vec<u32> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()
        })
        .collect()
}

/// Whether a session's call got a valid answer.
fn answers(answer: &Answer) -> bool {
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
    answer.code == Some(0)
        && answer.stderr.is_empty()
        && (answer.stdout.is_empty() || json(&answer.stdout))
}
