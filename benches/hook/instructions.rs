//! Instructions of a run, from `valgrind --tool=callgrind`: the program's, not the kernel's.

use std::fs;
use std::path::Path;

use crate::case::Case;

/// Counts one run.
pub fn count(case: &Case, folder: &Path) -> u64 {
    let out = folder.join("callgrind");
    let file = format!("--callgrind-out-file={}", out.display());
    let mut command = case.under("valgrind", &["--tool=callgrind", "-q", &file]);
    let status = command.status().expect("valgrind");
    assert!(status.success(), "{} failed under valgrind", case.title());
    let text = fs::read_to_string(&out).expect("callgrind's file");
    let total = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("totals: ").or_else(|| line.strip_prefix("summary: ")));
    total.and_then(|n| n.trim().parse().ok()).expect("callgrind's total")
}
