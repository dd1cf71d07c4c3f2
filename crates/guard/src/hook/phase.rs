//! Describes a job's phase to the agent.

use super::facts::Facts;
use crate::files::jobs;
use crate::texts::{Text, cut, render};

/// How many characters of a phase's coaching are repeated.
const COACH_CHARS: usize = 2_000;

/// The job's phase on lines of its own, with the coaching from its start. Empty without an open
/// phase.
pub fn phase(facts: &Facts, job: &str) -> String {
    let Some(phase) = jobs::record(&facts.places, job).phase else { return String::new() };
    let coach = phase.coach.trim();
    let coach = if coach.is_empty() {
        String::new()
    } else {
        format!(" Note from its start:\n{}", cut(coach, COACH_CHARS))
    };
    let values = [("name", phase.name.as_str()), ("coach", coach.as_str())];
    format!("\n{}", render(&facts.places, Text::Phase, &values))
}

/// The phase's name for use inside a line.
pub fn phase_name(facts: &Facts, job: &str) -> String {
    let phase = jobs::record(&facts.places, job).phase;
    phase.map_or_else(String::new, |phase| format!(" (phase {})", phase.name))
}
