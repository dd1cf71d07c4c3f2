//! pi as the judge of extraction: sessions that it wrote, or that are made up in its form, are
//! extracted and restored by the program, and opened by pi's own session manager. Without
//! network and without a model.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program of its own: it starts processes, reads files, and prints"
)]

mod cases;
mod compare;
mod pi;
mod scene;

#[path = "../hook/harness.rs"]
#[allow(dead_code, reason = "the hook's tests use the rest")]
mod harness;

use std::process::ExitCode;
use std::time::Instant;

use pi::Pi;

/// A case: what is tried with each version.
type Case = (&'static str, fn(&Pi) -> Result<(), String>);

const CASES: [Case; 8] = [
    ("extracted, pi sends the same but for the placeholders", cases::extracted),
    ("all of it extracted, calls and words too", cases::everything),
    ("restored, pi sends what it sent, and the file is the one it was", cases::restored),
    ("restored with a mark, pi sends what it sent", cases::marked),
    ("pi opens it and goes on", cases::goes_on),
    ("pi had it open all the while, and goes on", cases::held),
    ("control: what breaks pi is found, and refused by validate", cases::broken),
    ("pi goes on with the session that was written last", cases::latest),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let filters: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let versions = pi::VERSIONS.into_iter();
    let all = versions.flat_map(|version| {
        CASES.map(|(name, case)| (format!("clients: pi {version}: {name}"), version, case))
    });
    let asked = |name: &str| filters.is_empty() || filters.iter().any(|f| name.contains(*f));
    let asked: Vec<_> = all.filter(|(name, ..)| asked(name)).collect();
    if words.iter().any(|word| word == "--list") {
        for (name, ..) in &asked {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let began = Instant::now();
    let (mut passed, mut failed, mut left) = (0, 0, 0);
    for (name, version, case) in asked {
        match Pi::of(version) {
            Err(why) => {
                left += 1;
                println!("{name}: not run: {why}");
            }
            Ok(pi) => match case(&pi) {
                Ok(()) => passed += 1,
                Err(why) => {
                    failed += 1;
                    println!("{name}: {why}");
                }
            },
        }
    }
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "test result: {verdict}. {passed} passed; {failed} failed; {left} ignored; 0 measured; 0 filtered out; \
         finished in {:.2}s",
        began.elapsed().as_secs_f64()
    );
    ExitCode::from(u8::from(failed > 0))
}
