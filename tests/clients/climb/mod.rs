//! The climb: many boundaries in one client, with a scripted agent that reacts to the guard. It
//! retries, switches tools, writes sloppy Markdown, asks questions, leaves agents and shells
//! running, and ends turns without a seal. At some boundaries a person types, drafts, puts off
//! and interrupts.
//!
//! The climb computes the expected verdict on every call from the usage figures of the mock.
//!
//! `BRAIN_GUARD_CLIMB=30` plays thirty boundaries, `BRAIN_GUARD_SEED=7` other ones.

mod agent;
mod calls;
mod character;
mod judge;
mod notes;
mod person;
mod tally;
mod verdict;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::soak::scenario::Dice;
use crate::support::evidence::lock;
use crate::support::number;
use crate::support::world::World;
use agent::Agent;
use character::{PERSONS, Plan, draw};
use person::{Stage, Stall};
use tally::Fault;

#[test]
fn every_call_gets_its_verdict_over_many_boundaries() {
    let n = number("BRAIN_GUARD_CLIMB", 4) as usize;
    let seed = number("BRAIN_GUARD_SEED", 1);
    let plans = plans(n, seed);
    let (agent, done) = climb(n, plans.clone());
    let state = lock(&agent.0);
    for (index, plan) in plans.iter().enumerate() {
        let person = plan.person.map_or_else(String::new, |p| format!(", with a person: {p:?}"));
        let session = state.sessions.get(index);
        let facts = session.map_or(0, |session| session.facts.len());
        println!("  {:>3} {}{person}, {facts} facts", index + 1, plan.name);
    }
    println!(
        "  calls judged {}, of them denied {}, too near an edge {}; seed {seed}",
        state.calls, state.denied, state.undecided
    );
    let acts: Vec<_> = state.acts.iter().map(|(act, count)| format!("{act} {count}")).collect();
    println!("  played: {}", acts.join(", "));
    let mut pauses = state.pauses.clone();
    pauses.sort();
    if let (Some(median), Some(worst)) = (pauses.get(pauses.len() / 2), pauses.last()) {
        let n = pauses.len();
        println!(
            "  end of turn to the next session's request: {median:.2?}, worst {worst:.2?}, n {n}"
        );
    }
    assert!(state.faults.0.is_empty(), "{}", state.faults);
    assert_eq!(done, n, "boundaries");
}

/// Plans the agents of all sessions; the dice choose the boundaries with a person.
fn plans(n: usize, seed: u64) -> Vec<Plan> {
    let mut dice = Dice(seed);
    // A person sits at every third boundary.
    let mut left = (n / 3).max(1);
    let mut kinds = PERSONS.iter().cycle().skip(seed as usize % PERSONS.len());
    let plan = |index: usize| {
        let chosen = dice.within(0, (n - index) as i64) < left as i64;
        left -= usize::from(chosen);
        let person = if chosen { kinds.next().copied() } else { None };
        draw(&mut dice, person)
    };
    (0..n).map(plan).collect()
}

/// Plays all plans in one client; returns the number of completed boundaries.
fn climb(n: usize, plans: Vec<Plan>) -> (Agent, usize) {
    let agent = Agent::default();
    lock(&agent.0).plans = plans.into();
    let (main, sub) = (agent.clone(), agent.clone());
    let mut world = World::build()
        .strict()
        .agent(move |request| main.answer(request))
        .subagent(move |request| sub.assist(request));
    for n in 0..calls::DOCS {
        world = world.file(&format!("doc-{n}.txt"), "text of a file\n");
    }
    let world = world.start();
    {
        let mut state = lock(&agent.0);
        (state.project, state.kept) = (world.project(), world.state());
    }
    calls::settings(&world, false);
    let tui = world.tui(&[]);
    let stage = Stage { world, tui, agent: agent.clone() };
    let mut done = 0;
    stage.tui.prompt("Build the parser");
    while done < n {
        let number = done + 1;
        let played = catch_unwind(AssertUnwindSafe(|| {
            stage.until("no request", |_| agent.sessions() >= number)?;
            let person = agent.now(|session| session.plan.person).flatten();
            calls::settings(&stage.world, person.is_some());
            let applied = stage.world.guard(&["settings", "apply", "--all"]);
            assert!(applied.status.success(), "{}", applied.stderr);
            match person {
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
    judge::thinking(&agent, &stage.world);
    if !lock(&agent.0).faults.0.is_empty() {
        stage.world.keep("climb");
    }
    (agent, done)
}
