//! The time and memory of extraction on long sessions, compared with `cp` on the same files in the
//! same run. `./bench extract` builds and starts it.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that measures processes and prints"
)]

mod goals;
mod rows;
mod world;

/// Modules shared with the other benchmarks.
macro_rules! shared {
    ($($name:ident at $path:literal)+) => {
        $(
            #[path = $path]
            #[allow(dead_code, reason = "the other benchmarks use the rest")]
            mod $name;
        )+
    };
}
shared! {
    args at "../surgery/args.rs"
    case at "../hook/case.rs"
    claude at "../surgery/rows.rs"
    figures at "../surgery/figures.rs"
    goal at "../surgery/goal.rs"
    instructions at "../hook/instructions.rs"
    machine at "../hook/machine.rs"
    measure at "../surgery/measure.rs"
    memory at "../hook/memory.rs"
    page at "../surgery/page.rs"
    place at "../surgery/place.rs"
    pool at "../surgery/pool.rs"
    run at "../surgery/run.rs"
    session at "../surgery/session.rs"
    timing at "../hook/timing.rs"
}

use std::process::ExitCode;

use args::{Args, Kind};
use figures::Size;
use page::Section;
use run::{Found, Run, measured};
use world::World;

const SECTION: Section = Section {
    mark: "<!-- Written by `./bench extract --write`; the text is benches/extract/page.md. -->",
    text: include_str!("page.md"),
};

const KIND: Kind = Kind { command: "./bench extract", sizes: &[50, 300], quick: 10 };

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match Args::parse(words.into_iter(), &KIND).and_then(|args| run(&args)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("bench: {why}");
            ExitCode::from(2)
        }
    }
}

/// Measures and prints; returns whether all asserted goals hold.
fn run(args: &Args) -> Result<bool, String> {
    let mut found = Found::default();
    for megabytes in &args.sizes {
        let world = World::new(args, *megabytes)?;
        let (measures, gone) = world.measures(args);
        found.missing.extend(gone.into_iter().map(|why| format!("{megabytes} MB: {why}")));
        if let Some(first) = measures.first() {
            memory::check(&args.eater, &first.case)?;
        }
        let times = args.rounds_at(*megabytes);
        found.rows.extend(measured(args, *megabytes, times, measures, &|_| false));
        found.sizes.push(Size::of(*megabytes, world.session(), times));
        world.remove();
    }
    let goals = goals::all(&found.rows);
    page::tell(&Run::of(args, found, goals), args, &SECTION)
}
