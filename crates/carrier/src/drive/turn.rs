//! The second half of a boundary: the new session starts its turn.

use chrono::Duration;

use super::{Drive, SETTLE_MS, chords_in_force};
use crate::keyboard::{self, Pressed};
use crate::terminal::Refusal;
use base::clock;
use guard::boundary::{Step, Token};
use guard::files::{boundary, state};
use guard::hook::facts::Facts;

/// How often to press the key for the first turn before the hook starts it.
const KICKS: u32 = 3;

impl Drive<'_> {
    /// Starts the turn after the delivery, or again if it ended without an answer.
    pub(super) fn start_turn(&mut self, facts: &Facts, token: &Token) -> Result<(), Refusal> {
        let first = facts.session.prompts == 0;
        if first && !token.kicks_off {
            return Ok(());
        }
        let back_off = if first {
            Duration::milliseconds(SETTLE_MS)
        } else {
            let tries = &facts.settings.boundary.times.retry_seconds;
            let Some(seconds) = tries.get(token.unanswered as usize) else { return Ok(()) };
            Duration::seconds((*seconds).min(86_400) as i64)
        };
        let last = self.kicked.max(facts.session.turn).max(facts.session.broke);
        let waiting = last.is_some_and(|at| facts.now - at < back_off);
        // A turn that the user interrupted is not retried; one that the API broke is.
        if waiting || (!first && facts.session.broke.is_none()) {
            return Ok(());
        }
        let Some(strokes) = chords_in_force(facts).resume.filter(|_| self.kicks < KICKS || !first)
        else {
            self.change(facts, |t| t.kicks_off = false);
            return Ok(());
        };
        let (id, prompts) = (self.id, facts.session.prompts);
        let mut commit = || {
            let same = state::load(&facts.places, facts.id).ok().flatten();
            let still = |t: &mut Token| {
                let still = t.step == Step::Delivered && (t.kicks_off || !first);
                t.unanswered += u32::from(still && !first);
                still
            };
            same.is_some_and(|s| s.prompts == prompts)
                && matches!(boundary::update(&facts.places, id, still), Ok(Some(true)))
        };
        let terminal = self.terminal(facts, token)?;
        if keyboard::chord(terminal, &strokes, &mut commit)? == Pressed::Yes {
            self.kicked = Some(clock::now());
            self.kicks += 1;
        }
        self.calm();
        Ok(())
    }
}
