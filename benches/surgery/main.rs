//! The time, memory and instructions of surgery on long sessions, compared with common programs on
//! the same files in the same run. One thread each. `./bench surgery` builds and starts it.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that measures processes and prints"
)]

mod args;
mod figures;
mod goal;
mod goals;
mod measure;
mod page;
mod place;
mod pool;
mod rows;
mod run;
mod session;
mod world;

/// Modules shared with the hook benchmark and with tests.
macro_rules! shared {
    ($($name:ident at $path:literal)+) => {
        $(
            #[path = $path]
            #[allow(dead_code, reason = "the other benchmark uses the rest")]
            mod $name;
        )+
    };
}
shared! {
    case at "../hook/case.rs"
    instructions at "../hook/instructions.rs"
    machine at "../hook/machine.rs"
    memory at "../hook/memory.rs"
    timing at "../hook/timing.rs"
}

use std::process::ExitCode;

use args::{Args, Kind};
use figures::Size;
use page::Section;
use run::{Found, Run, measured};
use world::World;

const SECTION: Section = Section {
    mark: "<!-- Written by `./bench surgery --write`; the text is benches/surgery/page.md. -->",
    text: include_str!("page.md"),
};

/// The goals use 50 MB; 300 MB is a long session, 1 GB one that was never cleared.
const KIND: Kind = Kind { command: "./bench surgery", sizes: &[50, 300, 1024], quick: 20 };

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = Args::parse(words.into_iter(), &KIND).and_then(|args| run(&args));
    match done {
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
    for (n, megabytes) in args.sizes.iter().enumerate() {
        let world = World::new(args, *megabytes)?;
        let (mut measures, gone) = world.measures(args);
        found.missing.extend(gone.into_iter().map(|why| format!("{megabytes} MB: {why}")));
        if n == 0 && measure::SEARCH.iter().any(|name| args.wants(name)) {
            let rounds = if args.quick { measure::MANY / 50 } else { measure::MANY };
            match world.searches(args, rounds) {
                Ok(searches) => measures.extend(searches),
                Err(why) => found.missing.push(format!("search: {why}")),
            }
        }
        if let Some(first) = measures.first() {
            memory::check(&args.eater, &first.case)?;
        }
        let times = args.rounds_at(*megabytes);
        let counted = |name: &str| matches!(name, measure::SCAN | measure::ROUNDS | measure::TYPED);
        found.rows.extend(measured(args, *megabytes, times, measures, &counted));
        found.sizes.push(Size::of(*megabytes, world.session(), times));
        world.remove();
    }
    let goals = goals::all(&found.rows);
    page::tell(&Run::of(args, found, goals), args, &SECTION)
}
