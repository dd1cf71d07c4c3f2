//! A stranger's checkout tries to act outside the project, speak for the guard or the user, waste
//! time, or switch the guard off. Each attack lays out a project and plays three sessions in it;
//! what it reached is printed.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests are an edge: they start processes, write files, and print"
)]

mod accept;
mod attack;
mod bombs;
mod control;
mod git;
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
mod standard;
mod voice;
mod world;

#[path = "../hook/harness.rs"]
#[allow(dead_code, reason = "the hook's tests use the rest")]
mod harness;
#[path = "../faults/run.rs"]
mod run;

use std::collections::{BTreeMap, BTreeSet};
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
        git::all(),
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
        for attack in &attacks {
            println!("{}: test", attack.name);
        }
        return ExitCode::SUCCESS;
    }
    let filter = words.iter().find(|w| !w.starts_with('-')).map_or("", String::as_str);
    let wanted = |name: &str| "repository".contains(filter) || name.contains(filter);
    let attacks: Vec<Attack> = attacks.into_iter().filter(|a| wanted(&a.name)).collect();
    let began = Instant::now();
    let outcomes = all_of(&attacks);
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|o| is(o)).count();
    let held = count(|o| matches!(o, Outcome::Held));
    let through = count(|o| matches!(o, Outcome::Through(_)));
    let missing = count(|o| matches!(o, Outcome::Missing(_)));
    println!("repository: {} attacks tried, {held} held, {through} got through", held + through);
    for (kind, number) in kinds_of(&outcomes) {
        println!("    {number} {kind}");
    }
    let verdict = if through == 0 { "ok" } else { "FAILED" };
    println!(
        "test result: {verdict}. {held} passed; {through} failed; {missing} ignored; 0 measured; 0 filtered out; \
         finished in {:.2}s",
        began.elapsed().as_secs_f64(),
    );
    ExitCode::from(u8::from(through > 0))
}

/// The number of attacks that reached each kind of target.
fn kinds_of(outcomes: &[Outcome]) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for outcome in outcomes {
        let Outcome::Through(found) = outcome else { continue };
        let words =
            |what: &String| what.split([':', ' ', ',']).next().unwrap_or_default().to_owned();
        for kind in found.iter().map(words).collect::<BTreeSet<_>>() {
            *kinds.entry(kind).or_default() += 1;
        }
    }
    kinds
}

/// Runs all attacks, a few at a time; prints each outcome at once.
fn all_of(attacks: &[Attack]) -> Vec<Outcome> {
    let workers = std::thread::available_parallelism().map_or(2, |n| n.get().clamp(1, 4));
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let work = || {
            let mut made = Vec::new();
            while let Some(attack) = attacks.get(next.fetch_add(1, Ordering::SeqCst)) {
                let outcome = guarded(attack);
                told(&attack.name, &outcome);
                made.push(outcome);
            }
            made
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|w| w.join().expect("a panic stays in its attack")).collect()
    })
}

fn told(name: &str, outcome: &Outcome) {
    match outcome {
        Outcome::Held => {}
        Outcome::Missing(why) => println!("ignored: {name}: {why}"),
        Outcome::Through(found) => {
            let lines = found.iter().take(8).map(|what| format!("\n    {what}"));
            println!("GOT THROUGH: {name}{}", lines.collect::<String>());
        }
    }
}

/// A panic fails only its own attack.
fn guarded(attack: &Attack) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| attack.make()))
        .unwrap_or_else(|_| Outcome::Through(vec!["it panicked, see above".to_owned()]))
}
