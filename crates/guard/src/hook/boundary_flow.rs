//! What follows a seal, and how a boundary ends.

use std::time::Duration;

use super::facts::Facts;
use super::notify;
pub use super::opening::{Opening, open, why_no_boundary};
use crate::boundary::{Carrier, Delivery, EndReason, Step, Token};
use crate::files::sealing::{self, Outcome, Writer};
use crate::files::{boundary, jobs};
use crate::journal::{Sealed, What};
use crate::policy::stance::Cap;
use crate::session::Activity;
use base::shown::count_with_noun;
use notes::compaction::{self, Role};
use notes::job::State;

/// How long blocks stay lifted after a boundary failed.
const LIFTED: chrono::Duration = chrono::Duration::minutes(15);

/// Seals the session's file without the agent.
fn seal_now(facts: &Facts) -> std::io::Result<Outcome> {
    let Facts { places, id, session, settings, now, .. } = facts;
    sealing::run(places, &session.job, Writer { id, session }, settings, None, *now, false)
}

/// Records a seal in the journal.
pub fn sealed_as(
    facts: &Facts,
    job: &str,
    version: u64,
    words: Option<(u64, u64)>,
    by_guard: bool,
) {
    let sealed = Sealed { job: job.to_owned(), version, words, by_guard };
    facts.record(What::Sealed(sealed));
}

/// Seals again after a note that came late, so that the sealed version contains it.
pub fn after_note(facts: &Facts) {
    let waits = |t: &Token| t.step == Step::Pending && t.delivery == Delivery::Sealed;
    if facts.token().is_some_and(|t| waits(&t)) {
        reseal(facts);
    }
}

/// Whether a sealed boundary waits for the turn's end.
pub fn waits_sealed(facts: &Facts) -> bool {
    let waits = |t: &Token| t.awaits_carrier(facts.id) && t.delivery == Delivery::Sealed;
    facts.token().is_some_and(|t| waits(&t))
}

fn reseal(facts: &Facts) {
    let outcome = seal_now(facts);
    let Some(id) = facts.session.token.clone() else { return };
    let moved = match outcome {
        Ok(Outcome::Sealed(sealed, path)) => {
            let report = &sealed.report;
            sealed_as(facts, &facts.session.job, report.version, Some(report.words()), true);
            boundary::update(&facts.places, &id, |t| {
                t.version = report.version;
                t.sealed = path.display().to_string();
            })
        }
        Ok(Outcome::Refused(_) | Outcome::Asked(_) | Outcome::NoFile) => {
            boundary::update(&facts.places, &id, |t| {
                t.fail("the notes could not be sealed again after a late change", facts.now);
            })
        }
        Err(e) => Err(e),
    };
    if let Err(e) = moved {
        facts.fault("not sealed again", &e);
    }
}

/// Whether the session wrote notes of its own.
pub fn wrote_notes(facts: &Facts) -> bool {
    let session = &facts.session;
    let text = jobs::read(&facts.places, &session.job).ok().flatten().unwrap_or_default();
    sealing::authored(&text, session, &facts.settings).entries > 0
}

/// What the next session would get: open entries by section, then the same in short. Empty without
/// notes.
pub fn next_session_gets(facts: &Facts) -> Vec<String> {
    let shape = &facts.settings.file.shape;
    let text = jobs::read(&facts.places, &facts.session.job).ok().flatten().unwrap_or_default();
    let document = compaction::parse(&text, shape);
    let open = |section| document.section(section).filter(|e| !e.closed && !e.none).count();
    let counts = (0..shape.sections.len()).map(|section| (section, open(section)));
    let counts: Vec<_> = counts.filter(|(_, count)| *count > 0).collect();
    if counts.is_empty() {
        return Vec::new();
    }
    let by_section = counts.iter().map(|(at, count)| format!("{} {count}", shape.name(Some(*at))));
    let by_section = by_section.collect::<Vec<_>>().join(", ");
    if shape.with_role(Role::Forward).is_some_and(|forward| open(forward) == 0) {
        let short = "no next step".to_owned();
        return vec![format!("next session gets {by_section}, but {short}"), short];
    }
    let all = counts.iter().map(|(_, count)| count).sum();
    let all = count_with_noun(all, "entry", "entries");
    vec![format!("next session gets {by_section}"), format!("next session gets {all}")]
}

/// Seals without the agent at a turn's end that nobody would continue, and opens a boundary.
///
/// # Errors
/// Why no boundary is open.
pub fn seal_for_the_agent(facts: &mut Facts) -> Result<(), String> {
    let session = facts.session.clone();
    if jobs::record(&facts.places, &session.job).state == State::Completed {
        // It keeps its sealed file.
        return Err("the job is complete".to_owned());
    }
    let authored = wrote_notes(facts);
    let outcome = seal_now(facts);
    match outcome {
        Ok(Outcome::Sealed(sealed, _)) => {
            let version = sealed.report.version;
            sealed_as(facts, &session.job, version, Some(sealed.report.words()), true);
            let opening = Opening::of_seal(&facts.places, &session.job, version, None, authored);
            // Another boundary may be open. A refusal lifts the blocks if necessary.
            match open(facts, &opening) {
                Err(_) if facts.token().is_some_and(|t| t.awaits_carrier_or_held(facts.id)) => {
                    Ok(())
                }
                opened => opened,
            }
        }
        Ok(Outcome::Refused(_)) => Err("the notes are too long to seal".to_owned()),
        Ok(Outcome::Asked(_) | Outcome::NoFile) => Err("there are no notes".to_owned()),
        Err(e) => {
            facts.fault("not sealed at the turn's end", &e);
            Err("the notes could not be sealed".to_owned())
        }
    }
}

/// Forgets the session's boundary and lifts the blocks, because there is no way out. What keeps
/// them from applying anyway, such as an override, ends by itself.
pub fn give_up(facts: &mut Facts, why: &str) {
    facts.update(|s| s.token = None);
    if facts.cap(&facts.view().readings).is_none() {
        lift_because(facts, why);
    }
}

/// Lifts the blocks, because a boundary failed.
fn lift_after(facts: &mut Facts, token: &Token) {
    let why = token.why.as_ref().map_or("no reason given".into(), EndReason::to_string);
    if notify::tell(facts, &format!("was not cleared: {why}; nothing is blocked for a while")) {
        facts.update(|s| s.notified.need = Some(Activity::WaitsForYou));
    }
    lift(facts, &Cap::Failed(why));
}

/// The line for the user about a boundary that failed.
pub fn failed_line(facts: &mut Facts, why: &EndReason) -> String {
    let lifted = facts.session.lifted.as_ref().map(|(until, _)| *until);
    facts.update(|s| s.notified.lifted = lifted);
    let until = lifted.map(|until| until.with_timezone(&chrono::Local));
    let until = until.map_or_else(String::new, |until| format!(" until {}", until.format("%H:%M")));
    format!("brain-guard: this session could not be cleared: {why}. Nothing is blocked{until}.")
}

/// Tells the user once that the blocks are lifted.
pub fn lifted_line(facts: &mut Facts) -> Option<String> {
    let (until, cap) = facts.session.lifted.clone()?;
    if facts.session.notified.lifted == Some(until) || until <= facts.now {
        return None;
    }
    facts.update(|s| s.notified.lifted = Some(until));
    Some(format!("brain-guard: nothing is blocked, because {}.", cap.why()))
}

/// Lifts the blocks for a while, for a reason that says how long.
pub fn lift_because(facts: &mut Facts, why: &str) {
    let until = (facts.now + LIFTED).with_timezone(&chrono::Local);
    lift(facts, &Cap::Lifted(format!("{why}; blocks apply again at {}", until.format("%H:%M"))));
}

/// Lifts the blocks for a while.
fn lift(facts: &mut Facts, cap: &Cap) {
    let (until, why) = (facts.now + LIFTED, cap.why());
    facts.update(|s| s.lifted = Some((until, cap.clone())));
    facts.record(What::Lifted { why });
}

/// Cleans up a finished boundary: a failed one lifts the blocks, an answered one is forgotten.
pub fn tidy(facts: &mut Facts) {
    let Some(token) = facts.token() else { return };
    if token.step == Step::Failed && token.why == Some(EndReason::Edited) {
        // Kept for `explain`. The next seal replaces it.
        return;
    }
    if token.clear_timed_out() {
        // Kept, because the clear may still come.
        if facts.session.lifted.is_none() {
            lift_after(facts, &token);
        }
        return;
    }
    if token.step == Step::Withdrawn {
        facts.update(|s| s.token = None);
        return;
    }
    if token.step == Step::Failed {
        facts.update(|s| s.token = None);
        lift_after(facts, &token);
        return;
    }
    if token.child.as_deref() != Some(facts.id) {
        return;
    }
    // The module delivers the notes after this turn, which began without them.
    if token.step == Step::Cleared && token.carrier == Carrier::Mod {
        return;
    }
    if token.step >= Step::Cleared {
        facts.change_token(&token.id, |t| {
            t.advance(Step::Acknowledged, facts.now);
        });
    }
    facts.update(|s| s.token = None);
}

/// Polls `ready`, for example for what the main hook of the event saves first. `false` on timeout.
pub fn wait_for(limit: Duration, mut ready: impl FnMut() -> bool) -> bool {
    let step = Duration::from_millis(5);
    let mut waited = Duration::ZERO;
    while waited < limit {
        if ready() {
            return true;
        }
        std::thread::sleep(step);
        waited += step;
    }
    false
}
