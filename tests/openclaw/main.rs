//! Checks extraction with OpenClaw, for sessions in files and in its database. It accepts the
//! arguments of the test harness. Without OpenClaw (`./test --openclaw` fetches it), every case
//! is ignored with a reason.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the judge is a program of its own: it starts processes, reads files, and prints"
)]

mod cases;
mod client;
mod session;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

use client::Client;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // Only a filter and `--list` of the test harness's arguments matter here.
    let filters: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let asked = |name: &str| filters.is_empty() || filters.iter().any(|f| name.contains(*f));
    let cases: Vec<_> = cases::ALL.iter().filter(|(name, _)| asked(name)).collect();
    if words.iter().any(|word| word == "--list") {
        for (name, _) in cases {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let began = Instant::now();
    let (mut passed, mut failed, mut ignored) = (0, 0, 0);
    match Client::find() {
        Err(why) => {
            println!("OpenClaw can't be asked: {why}");
            ignored = cases.len();
        }
        Ok(client) => {
            // The message of a panic is printed with its case.
            std::panic::set_hook(Box::new(|_| {}));
            for (name, play) in cases {
                match catch_unwind(AssertUnwindSafe(|| play(&client))) {
                    Ok(()) => passed += 1,
                    Err(why) => {
                        failed += 1;
                        let said = why.downcast_ref::<String>().cloned();
                        let said = said.or_else(|| why.downcast_ref().map(|s: &&str| (*s).into()));
                        println!("{name}: {}", said.unwrap_or_default());
                    }
                }
            }
        }
    }
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "test result: {verdict}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; 0 filtered out; \
         finished in {:.2}s",
        began.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(failed > 0))
}
