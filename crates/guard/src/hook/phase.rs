//! The phase that a job is in, as the agent is told.

use super::facts::Facts;
use crate::files::{jobs, origin};
use crate::texts::{Text, cut, say};

/// Characters of a phase's coaching that are told again.
const COACH_CHARS: usize = 2_000;

/// The phase a job is in, with what the agent heard as it entered it, on lines of
/// their own; empty where no phase is open.
pub fn phase(facts: &Facts, job: &str) -> String {
    let Some(phase) = jobs::record(&facts.places, job).phase else { return String::new() };
    let coach = phase.coach.trim();
    // What others wrote into the record is nobody's word here.
    let own = origin::origin(&facts.places, job).is_own();
    let coach = if coach.is_empty() || !own {
        String::new()
    } else {
        format!(" Note from its start:\n{}", cut(coach, COACH_CHARS))
    };
    let values = [("name", phase.name.as_str()), ("coach", coach.as_str())];
    format!("\n{}", say(&facts.places, Text::Phase, &values))
}

/// The phase by its name only, to stand within a line.
pub fn phase_name(facts: &Facts, job: &str) -> String {
    let phase = jobs::record(&facts.places, job).phase;
    phase.map_or_else(String::new, |phase| format!(" (phase {})", phase.name))
}
