//! The soak: many boundaries of the real client in tmux and in an xterm, each with a disturbance,
//! and a count of all faults. `BRAIN_GUARD_SOAK=200` plays two hundred in each,
//! `BRAIN_GUARD_SEED=7` other ones; `--nocapture` prints the table.

mod agent;
mod arrival;
mod dialog;
mod disturb;
mod judge;
mod naive;
mod play;
mod remains;
pub mod scenario;
mod stage;
mod tally;

use std::panic::{AssertUnwindSafe, catch_unwind};

use play::Plan;
use scenario::{Dice, Road, Scenario};
use stage::{Setup, Stage};
use tally::Tally;

use crate::support::number;

/// Boundaries per client; then a new client starts with new random choices.
const LIFE: usize = 25;

#[test]
fn disturbed_boundaries_misfire_nowhere_in_tmux() {
    undisturbed(Road::Tmux);
}

#[test]
fn disturbed_boundaries_misfire_nowhere_in_x11() {
    undisturbed(Road::X11);
}

/// Without proofs, the soak itself types `/clear` and Enter at every Stop hook. The count must then
/// not stay at zero, or it would prove nothing.
#[test]
fn control_without_proofs_boundaries_misfire() {
    for road in [Road::Tmux, Road::X11] {
        let order = vec![Scenario::DraftLine, Scenario::DraftLines, Scenario::AgentDialog];
        let tally = Run { order, ..Run::new(road, true, 0) }.soak();
        println!("{}", tally.report(&format!("{}, without proofs", road.name())));
        assert!(tally.misfires() > 0, "{}: nothing misfired", road.name());
    }
}

fn undisturbed(road: Road) {
    let tally = Run::new(road, false, number("BRAIN_GUARD_SOAK", 10) as usize).soak();
    println!("{}", tally.report(road.name()));
    assert!(tally.clean(), "{}", road.name());
}

/// The boundaries in one kind of terminal, with our carrier or without proofs.
struct Run {
    road: Road,
    naive: bool,
    dice: Dice,
    order: Vec<Scenario>,
}

impl Run {
    fn new(road: Road, naive: bool, n: usize) -> Self {
        let mut dice = Dice(number("BRAIN_GUARD_SEED", 20_260_101) ^ road.name().len() as u64);
        let order = dice.order(&Scenario::on(road), n);
        Self { road, naive, dice, order }
    }

    fn soak(mut self) -> Tally {
        let mut tally = Tally::default();
        let mut stage: Option<Stage> = None;
        for at in 0..self.order.len() {
            let plan = plan(&mut self.dice, at + 1, self.order[at], self.naive);
            // Without a chord, nothing is cleared under X11.
            let chords = self.road == Road::X11 || self.dice.percent(70);
            let setup = Setup { road: self.road, chords, naive: self.naive };
            let played = catch_unwind(AssertUnwindSafe(|| {
                play::play(stage.get_or_insert_with(|| Stage::new(setup)), &plan)
            }));
            let outcome = played.unwrap_or_else(|cause| play::stuck(cause.as_ref()));
            let spoilt = !outcome.faults.is_empty() || outcome.refused.is_some();
            let over =
                |used: &Stage| spoilt || plan.scenario.ends_the_stage() || used.played >= LIFE;
            if let Some(used) = stage.take_if(|used| over(used)) {
                let name = format!("soak-{}-{}", self.road.name(), plan.number);
                end(used, spoilt && !self.naive, &name);
            }
            tally.add(&plan.scenario.to_string(), plan.number, outcome);
        }
        if let Some(used) = stage {
            end(used, false, "");
        }
        tally
    }
}

/// Makes the random choices of a boundary.
fn plan(dice: &mut Dice, number: usize, scenario: Scenario, naive: bool) -> Plan {
    let offset = match scenario {
        Scenario::TerminalKilled | Scenario::ClientKilled => dice.within(0, 900),
        // Without proofs the keys come right at the turn's end, so the dialog must open before.
        Scenario::AgentDialog if naive => dice.within(-400, -200),
        Scenario::FocusStolen => dice.within(-50, 900),
        _ => dice.within(-200, 400),
    };
    let (auto, hold) = (dice.percent(40), dice.within(300, 1800) as u64);
    Plan { number, scenario, auto, offset, hold, naive }
}

fn end(stage: Stage, keep: bool, name: &str) {
    // A panic of the dropped mock must not end the soak.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        if keep {
            stage.world.keep(name);
        }
        drop(stage);
    }));
}
