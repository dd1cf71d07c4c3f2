//! The fault corpus: bad input of every kind against the real binary. Each case is a trap that
//! broke a similar tool (`README.md` here lists them by letter). Every answer is checked for a
//! clean exit, its time, and false blocks.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the corpus is a program of its own: it starts processes, reads files, and prints"
)]

mod api;
mod carry_over;
mod case;
mod clear;
mod clock;
mod compaction;
mod control;
mod counts;
mod daemons;
mod deadlocks;
mod disk;
mod file;
mod hysteresis;
mod parallel;
mod payloads;
mod places;
mod run;
mod scene;
mod sessions;
mod settings;
mod subagents;
mod tail;
mod tally;
mod transcript;
mod window;

#[path = "../hook/harness.rs"]
#[allow(dead_code, reason = "the hook's tests use the rest")]
mod harness;

use std::process::ExitCode;
use std::time::Instant;

use case::Case;
use tally::Tally;

/// All cases, by the letters of their traps.
const CORPUS: &[&[Case]] = &[
    window::CASES,
    counts::CASES,
    tail::CASES,
    compaction::CASES,
    subagents::CASES,
    deadlocks::CASES,
    transcript::CASES,
    daemons::CASES,
    sessions::CASES,
    clear::CASES,
    places::CASES,
    payloads::CASES,
    carry_over::CASES,
    hysteresis::CASES,
    api::CASES,
    parallel::CASES,
    clock::CASES,
    disk::CASES,
    settings::CASES,
    file::CASES,
    control::CASES,
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // Of the test harness's arguments only a filter and `--list` matter here.
    let filters: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let asked = |name: &str| filters.is_empty() || filters.iter().any(|f| name.contains(*f));
    let cases = CORPUS.iter().copied().flatten().filter(|(name, _)| asked(name));
    if words.iter().any(|word| word == "--list") {
        cases.for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    // A panic's message is printed with its case.
    std::panic::set_hook(Box::new(|_| {}));
    let began = Instant::now();
    let mut tally = Tally::new();
    for case in cases {
        tally.play(case);
    }
    let Tally { passed, failed, skipped, .. } = tally;
    println!(
        "fault corpus: {} cases, {} answers, false blocks: {}, missed blocks: {}, slowest {} ms CPU of {} ({})",
        passed + failed,
        tally.answers,
        tally.false_blocks,
        tally.missed_blocks,
        tally.slowest.0.as_millis(),
        tally::CPU.as_millis(),
        tally.slowest.1,
    );
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "test result: {verdict}. {passed} passed; {failed} failed; {skipped} ignored; 0 measured; 0 filtered out; \
         finished in {:.2}s",
        began.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(failed > 0))
}
