//! Checks extraction with pi. The program extracts from and restores sessions that pi wrote, or
//! that have its format, and pi's session manager opens them. Needs no network and no model.
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

#[path = "../played.rs"]
mod played;

use std::process::ExitCode;

use pi::Pi;
use played::End;

/// A case, run with each version.
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
    let versions = pi::VERSIONS.into_iter();
    let cases = versions.flat_map(|version| {
        CASES.map(|(name, case)| {
            let play = move || match Pi::of(version) {
                Err(why) => End::Left(why),
                Ok(pi) => case(&pi).into(),
            };
            (format!("clients: pi {version}: {name}"), play)
        })
    });
    played::all(&words, "", cases)
}
