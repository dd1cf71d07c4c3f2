//! Every process of ours is killed around a boundary, as by a machine that runs out of memory. The
//! run goes on. `BRAIN_GUARD_KILLS=30` kills in thirty sessions, `BRAIN_GUARD_SEED=7` at other times.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::{append, deliveries, percent, unattended};
use crate::soak::scenario::Dice;
use crate::support::mock::{Reply, Request};
use crate::support::number;
use crate::support::process;
use crate::support::world::World;

/// For how long each process of ours is killed as soon as it appears.
const KILLING: Duration = Duration::from_millis(300);

fn agent(request: &Request) -> Reply {
    let results = request.tool_results();
    if deliveries(request) > 0 {
        return Reply::text("going on").tokens(percent(6.0));
    }
    match request.n {
        1 => Reply::bash("echo one").tokens(percent(5.0)),
        2 => append("next", "write the lexer next").tokens(percent(31.0)),
        3 => Reply::bash("brain-guard seal").tokens(percent(31.1)),
        // It tries once more where the guard or the seal asks for it.
        _ if request.last_user_text().contains("Stop hook") => {
            Reply::bash("brain-guard seal").tokens(percent(31.2))
        }
        _ if results.iter().any(|result| result.is_error) && request.n < 8 => {
            Reply::bash("brain-guard seal").tokens(percent(31.2))
        }
        _ => Reply::text("I end my turn.").tokens(percent(31.2)),
    }
}

fn kill_ours(world: &World) -> usize {
    let is_ours = |command: &str| {
        command.split(' ').next().is_some_and(|program| program.ends_with("/brain-guard"))
    };
    let ours = world.processes().into_iter().filter(|found| is_ours(&found.command));
    let kill = |found: process::Found| {
        let pid = found.pid.to_string();
        // It may have ended by itself.
        let _ = process::run(Command::new("kill").args(["-KILL", &pid]), Duration::from_secs(5));
    };
    ours.map(kill).count()
}

/// Kills this long after the seal was called, and returns how many processes, and the seconds to the
/// next session's first request.
fn killed_after(wait: Duration) -> (usize, f64) {
    let world = World::build().guard_settings(unattended()).agent(agent).start();
    let tui = world.tui(&[]);
    tui.prompt("Build the parser");
    world.mock.wait_main(3);
    thread::sleep(wait);
    let began = Instant::now();
    let mut killed = 0;
    while began.elapsed() < KILLING {
        killed += kill_ours(&world);
    }
    let first = || world.mock.main().into_iter().find(|request| deliveries(request) > 0);
    let went_on = process::poll(Duration::from_secs(90), Duration::from_millis(50), first);
    let Some(request) = went_on else {
        world.evidence.fail(&format!("the run stands, {wait:?} after the seal"))
    };
    let seconds = began.elapsed().as_secs_f64();
    assert_eq!(deliveries(&request), 1, "{request}");
    tui.wait_idle();
    let last = world.mock.main().pop().expect("a request");
    assert_eq!((&last.session, deliveries(&last)), (&request.session, 1), "{last}");
    (killed, seconds)
}

#[test]
fn a_run_goes_on_after_every_process_of_ours_was_killed() {
    let mut dice = Dice(number("BRAIN_GUARD_SEED", 1));
    let mut all = 0;
    for n in 1..=number("BRAIN_GUARD_KILLS", 2) {
        let wait = Duration::from_millis(dice.within(0, 1_500) as u64);
        let (killed, seconds) = killed_after(wait);
        println!(
            "  {n:>3} {wait:>7.0?} after the seal: {killed} killed, went on after {seconds:.1} s"
        );
        all += killed;
    }
    assert!(all > 0, "nothing was killed");
}
