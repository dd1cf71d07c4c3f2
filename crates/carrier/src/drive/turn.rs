//! The second half of a boundary: the new session gets its text and starts its turn.

use chrono::Duration;

use super::{Drive, SETTLE_MS, chords_in_force, passed, plan, time_since_prompt};
use crate::command::{self, Plan};
use crate::keyboard::{self, Pressed};
use crate::terminal::Refusal;
use base::clock;
use guard::boundary::{Carrier, Inject, Step, Token};
use guard::files::{boundary, state};
use guard::hook::deliver;
use guard::hook::facts::Facts;
use guard::texts::Text;

/// How often to press the key for the first turn before the hook starts it.
const KICKS: u32 = 3;

impl Drive<'_> {
    pub(super) fn paste(&mut self, facts: &Facts, token: &Token) -> Result<(), Refusal> {
        let running = || state::load(&facts.places, facts.id).ok().flatten();
        let early = self.kicked.is_some_and(|at| !passed(at, SETTLE_MS, facts.now));
        if facts.session.prompts > 0 || early {
            return Ok(());
        }
        let Some(text) = deliver::text(facts, token) else {
            return Err(Refusal::never("the sealed file is not there"));
        };
        let id = self.id;
        let mut commit = || {
            let still = |t: &mut Token| t.step == Step::Cleared && t.inject == Inject::Paste;
            running().is_some_and(|s| s.prompts == 0)
                && matches!(boundary::update(&facts.places, id, still), Ok(Some(true)))
        };
        let line = deliver::boundary_text(facts, token, Text::PasteLine, &[]).to_lowercase();
        let line = format!("{} ", line.trim());
        if self.kicked.is_some() {
            // Client 2.1.250 takes no pasted text without Enter; the hooks start the turn there.
            if token.carrier != Carrier::Command {
                let terminal = self.terminal(facts, token)?;
                match terminal.readable() {
                    Some(readable) => keyboard::take_back(readable, &line)?,
                    None => keyboard::delete(terminal)?,
                }
            }
            return Err(Refusal::never("the client did not take what was pasted"));
        }
        let pressed = if token.carrier == Carrier::Command {
            let chords = chords_in_force(facts);
            let plan = Plan { text: Some(&text), ..plan(facts, token, "paste", &line, &chords) };
            let go = commit();
            if go {
                command::run(&facts.settings.boundary.command, &plan)?;
            }
            go
        } else {
            let mut left = self.left_over;
            let terminal = self.terminal(facts, token)?;
            let pressed = if let Some(readable) = terminal.readable() {
                keyboard::pasted(readable, &line, &text, &mut commit, &mut left)
            } else if terminal.may_paste(time_since_prompt(facts))? {
                keyboard::pasted_unread(terminal, &line, &text, &mut commit)
            } else {
                Err(Refusal::never("the prompt box may not be empty"))
            };
            self.left_over = left;
            pressed? == Pressed::Yes
        };
        if pressed {
            self.kicked = Some(clock::now());
        }
        self.calm();
        Ok(())
    }

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
