//! A stranger's checkout tries to act outside the project, to speak for the guard or the user, to
//! cost time, or to switch the guard off. Each attack lays out a project and plays three sessions in
//! it against the binary; what it reached is printed.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests are an edge: they start processes, write files, and print"
)]

mod accept;
mod attack;
mod bombs;
mod control;
mod judge;
mod kinds;
mod links;
mod listing;
mod mounts;
mod names;
mod owned;
mod play;
mod race;
mod settings;
mod voice;
mod world;

#[path = "../hook/harness.rs"]
#[allow(dead_code, reason = "the hook's tests use the rest")]
mod harness;
#[path = "../faults/run.rs"]
mod run;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use attack::{Attack, Outcome};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == mounts::WORD) {
        mounts::play(&words[1..]);
        return ExitCode::SUCCESS;
    }
    let attacks: Vec<Attack> = [
        links::all(),
        kinds::all(),
        names::all(),
        voice::all(),
        bombs::all(),
        settings::all(),
        accept::all(),
        owned::all(),
        race::all(),
        mounts::all(),
        control::all(),
    ]
    .into_iter()
    .flatten()
    .collect();
    if words.iter().any(|w| w == "--list") {
        attacks.iter().for_each(|a| println!("{}: test", a.name));
        return ExitCode::SUCCESS;
    }
    let filter = words.iter().find(|w| !w.starts_with('-')).map_or("", String::as_str);
    let wanted = |name: &str| "repository".contains(filter) || name.contains(filter);
    let attacks: Vec<Attack> = attacks.into_iter().filter(|a| wanted(&a.name)).collect();
    let began = Instant::now();
    let outcomes = all_of(&attacks);
    let (mut held, mut through, mut missing) = (0, 0, 0);
    for (attack, outcome) in attacks.iter().zip(outcomes) {
        match outcome {
            Outcome::Held => held += 1,
            Outcome::Missing(why) => {
                missing += 1;
                println!("not tried: {}: {why}", attack.name);
            }
            Outcome::Through(found) => {
                through += 1;
                println!("GOT THROUGH: {}", attack.name);
                found.iter().take(8).for_each(|what| println!("    {what}"));
            }
        }
    }
    println!("repository: {} attacks tried, {held} held, {through} got through", held + through);
    let verdict = if through == 0 { "ok" } else { "FAILED" };
    println!(
        "test result: {verdict}. {held} passed; {through} failed; {missing} ignored; 0 measured; 0 filtered out; \
         finished in {:.2}s",
        began.elapsed().as_secs_f64(),
    );
    ExitCode::from(u8::from(through > 0))
}

/// Every attack, a few at a time, in their order.
fn all_of(attacks: &[Attack]) -> Vec<Outcome> {
    let workers = std::thread::available_parallelism().map_or(2, |n| n.get().clamp(1, 4));
    let next = AtomicUsize::new(0);
    let mut outcomes: Vec<(usize, Outcome)> = std::thread::scope(|scope| {
        let work = || {
            let mut made = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::SeqCst);
                let Some(attack) = attacks.get(index) else { return made };
                made.push((index, guarded(attack)));
            }
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|w| w.join().expect("no attack panics out of its guard"))
            .collect()
    });
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// An attack that panics has failed, and only that one.
fn guarded(attack: &Attack) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| attack.make()))
        .unwrap_or_else(|_| Outcome::Through(vec!["it panicked, see above".to_owned()]))
}
