//! Kills every writing verb and hook at each system call that writes, renames, links, removes,
//! truncates, makes a folder or syncs. The disk must hold the old or the new state, and the next
//! call must continue from it.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own: it starts processes, reads files, and prints"
)]

mod control;
mod disk;
mod installing;
mod judge;
mod operations;
mod play;
mod sessions;
mod trace;

#[path = "../hook/harness.rs"]
#[allow(dead_code, reason = "the hook's tests use the rest")]
mod harness;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use play::{Outcome, play};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = installing::child(&args) {
        return code;
    }
    let filters: Vec<&String> = args.iter().filter(|word| !word.starts_with('-')).collect();
    let wanted = |name: &str| {
        filters.is_empty()
            || filters.iter().any(|part| name.contains(*part) || "kill".contains(*part))
    };
    let operations: Vec<_> = operations::ALL.iter().filter(|(name, _)| wanted(name)).collect();
    let controls: Vec<_> = control::ALL.iter().filter(|(name, _)| wanted(name)).collect();
    if args.iter().any(|word| word == "--list") {
        for (name, _) in &operations {
            println!("{name}: test");
        }
        for (name, _) in &controls {
            println!("control, {name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let began = Instant::now();
    let cases = operations.len() + controls.len();
    let result = |passed: usize, failed: usize, ignored: usize| {
        let verdict = if failed == 0 { "ok" } else { "FAILED" };
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "test result: {verdict}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; 0 filtered out; finished in {seconds:.2}s"
        );
        ExitCode::from(u8::from(failed > 0))
    };
    if cases == 0 {
        return result(0, 0, 0);
    }
    let strace = match trace::strace() {
        Ok(strace) => strace,
        Err(why) => {
            println!("kill harness: {why}");
            return result(0, 0, cases);
        }
    };
    // Memory is faster than a disk, and the test does not depend on bytes reaching a disk.
    let memory = std::path::Path::new("/dev/shm");
    if tempfile::tempdir_in(memory).is_ok() {
        // Fails only if it was set before.
        let _ = tempfile::env::override_temp_dir(memory);
    }
    play::adopt().expect("a process may adopt orphans");
    let times = args.iter().any(|word| word == "--times");
    let outcomes = all(&operations, &strace, times);
    let mut failed = 0;
    for Outcome { name, faults, .. } in outcomes.iter().filter(|o| !o.faults.is_empty()) {
        failed += 1;
        println!("{name}: {} unsound", faults.len());
        for fault in faults {
            println!("  {fault}");
        }
    }
    for (name, script) in controls {
        let found = !play(name, &control::operation(script), &strace).faults.is_empty();
        println!("control, {name}: {}", if found { "found" } else { "NOT FOUND" });
        failed += usize::from(!found);
    }
    let kills: usize = outcomes.iter().map(|o| o.kills).sum();
    let unsound: usize = outcomes.iter().map(|o| o.faults.len()).sum();
    println!(
        "kill harness: {} operations, {kills} kills, {} sound",
        outcomes.len(),
        kills.saturating_sub(unsound)
    );
    result(cases - failed, failed, 0)
}

/// Two at a time, because most of it is waiting for processes.
fn all(
    operations: &[&operations::Prepared],
    strace: &std::path::Path,
    times: bool,
) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, prepare)) =
                    operations.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let outcome = play(name, &prepare(), strace);
                    if times {
                        let seconds = outcome.took.as_secs_f64();
                        println!("{:>4} kills {seconds:>5.1} s  {name}", outcome.kills);
                    }
                    outcomes.lock().expect("no panic").push(outcome);
                }
            });
        }
    });
    outcomes.into_inner().expect("no panic")
}
