//! The climb: many boundaries in one client, with a scripted agent that reacts to the guard. It
//! retries, switches tools, writes sloppy Markdown, asks questions, leaves agents and shells
//! running, and ends turns without a seal. At some boundaries a person types, drafts, puts off
//! and interrupts.
//!
//! The climb computes the expected verdict on every call from the usage figures of the mock.
//!
//!     cargo test --test climb                                  four boundaries, one with a person
//!     cargo test --test climb -- --n 30 --with-person 10 --seed 7
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the climb is a program of its own: it waits, and prints"
)]

mod agent;
mod calls;
mod character;
mod judge;
mod notes;
mod person;
#[path = "../endurance/scenario.rs"]
#[allow(dead_code, reason = "the soak plays the scenarios; the dice are wanted here")]
mod scenario;
mod tally;
mod verdict;

include!("../e2e/borrowed.rs");

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use agent::Agent;
use character::{PERSONS, Plan, draw};
use evidence::lock;
use person::{Stage, Stall};
use scenario::Dice;
use tally::Fault;
use world::World;

const USAGE: &str = "\
usage: climb [--n N] [--with-person P] [--seed S] [--binary FILE]
  --n N            boundaries [default: 4]
  --with-person P  of which so many with a person at the terminal [default: 1]
  --seed S         the choices of an earlier run
  --binary FILE    the build of brain-guard, where it is not the test's own";

struct Args {
    n: usize,
    persons: usize,
    seed: u64,
    binary: Option<PathBuf>,
    elsewhere: bool,
}

fn read(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
    let mut args = Args { n: 4, persons: 1, seed: 1, binary: None, elsewhere: false };
    while let Some(word) = words.next() {
        let wrong = |what: &str| format!("{what}\n{USAGE}");
        let mut value = || words.next().ok_or_else(|| wrong(&format!("{word} needs a value")));
        let number =
            |text: String| text.parse().map_err(|_| wrong(&format!("{text:?} is not a number")));
        match word.as_str() {
            "--n" => args.n = number(value()?)?,
            "--with-person" => args.persons = number(value()?)?,
            "--seed" => args.seed = number(value()?)? as u64,
            "--binary" => args.binary = Some(PathBuf::from(value()?)),
            "--list" => args.elsewhere = true,
            "--nocapture" => {}
            flag if flag.starts_with("--test-threads") => {}
            flag if flag.starts_with('-') => return Err(wrong(&format!("unknown option {flag}"))),
            filter => args.elsewhere |= !"climb".contains(filter),
        }
    }
    args.persons = args.persons.min(args.n);
    Ok(args)
}

fn main() -> ExitCode {
    let args = match read(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    if args.elsewhere {
        return ExitCode::SUCCESS;
    }
    // The message of a failed wait is part of the result.
    std::panic::set_hook(Box::new(|_| {}));
    let began = Instant::now();
    let plans = plans(&args);
    let (agent, done) = climb(&args, plans.clone());
    let state = lock(&agent.0);
    println!("climb: {done} of {} boundaries, {} with a person", args.n, args.persons);
    for (index, plan) in plans.iter().enumerate() {
        let person =
            plan.person.map_or_else(String::new, |person| format!(", with a person: {person:?}"));
        let session = state.sessions.get(index);
        let facts = session.map_or(0, |session| session.facts.len());
        println!("  {:>3} {}{person}, {facts} facts", index + 1, plan.name);
    }
    println!(
        "  calls judged {}, of them denied {}, too near an edge {}",
        state.calls, state.denied, state.undecided
    );
    let acts: Vec<_> = state.acts.iter().map(|(act, count)| format!("{act} {count}")).collect();
    println!("  played: {}", acts.join(", "));
    print!("{}", state.faults);
    println!(
        "seed {}, {:.0} s, client {}",
        args.seed,
        began.elapsed().as_secs_f64(),
        client::PINNED
    );
    let right = state.faults.0.is_empty() && done == args.n;
    let (verdict, passed) = if right { ("ok", 1) } else { ("FAILED", 0) };
    println!("test result: {verdict}. {passed} passed; {} failed; 0 ignored", 1 - passed);
    ExitCode::from(u8::from(!right))
}

/// Plans the agents of all sessions; the dice choose the boundaries with a person.
fn plans(args: &Args) -> Vec<Plan> {
    let mut dice = Dice(args.seed);
    let mut left = args.persons;
    let mut kinds = PERSONS.iter().cycle().skip(args.seed as usize % PERSONS.len());
    let plan = |index: usize| {
        let chosen = dice.within(0, (args.n - index) as i64) < left as i64;
        left -= usize::from(chosen);
        let person = if chosen { kinds.next().copied() } else { None };
        draw(&mut dice, person)
    };
    (0..args.n).map(plan).collect()
}

/// Plays all plans in one client; returns the number of completed boundaries.
fn climb(args: &Args, plans: Vec<Plan>) -> (Agent, usize) {
    let agent = Agent::default();
    lock(&agent.0).plans = plans.into();
    let (main, sub) = (agent.clone(), agent.clone());
    let mut world = World::build()
        .agent(move |request| main.answer(request))
        .subagent(move |request| sub.assist(request));
    for n in 0..calls::DOCS {
        world = world.file(&format!("doc-{n}.txt"), "text of a file\n");
    }
    if let Some(binary) = &args.binary {
        world = world.guard_binary(binary);
    }
    let world = world.start();
    {
        let mut state = lock(&agent.0);
        (state.project, state.home) = (world.project(), world.home());
    }
    calls::settings(&world.home(), false);
    let tui = world.tui(&[]);
    let stage = Stage { world, tui, agent: agent.clone() };
    let mut done = 0;
    stage.tui.prompt("Build the parser");
    while done < args.n {
        let number = done + 1;
        let played = catch_unwind(AssertUnwindSafe(|| {
            stage.until("no request", |_| agent.sessions() >= number)?;
            match agent.now(|session| session.plan.person).flatten() {
                Some(person) => stage.play(number, person),
                None => stage.boundary(number),
            }
        }));
        let played = played.unwrap_or_else(|cause| {
            let text = cause.downcast_ref::<String>().map_or("", |text| text.as_str());
            Err(Stall(text.lines().next().unwrap_or_default().to_owned()))
        });
        if let Err(Stall(what)) = played {
            lock(&agent.0).faults.add(number, Fault::Stall, what);
            stage.world.keep("climb");
            return (agent, done);
        }
        judge::boundary(&agent, &stage.world);
        done += 1;
    }
    stage.tui.wait_idle();
    judge::end(&agent);
    if !lock(&agent.0).faults.0.is_empty() {
        stage.world.keep("climb");
    }
    (agent, done)
}
