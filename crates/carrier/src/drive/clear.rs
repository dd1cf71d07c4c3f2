//! The first half of a boundary: clearing the session.

use chrono::TimeDelta;

use super::{Drive, SETTLE_MS, chords_in_force, passed};
use crate::chords::NO_CHORD;
use crate::keyboard::{self, Pressed};
use crate::terminal::{PromptBox, Refusal};
use base::clock::{self, Time};
use guard::boundary::plan::{Due, Situation, due};
use guard::boundary::{Carrier, EndReason, Step, Token};
use guard::files::{boundary, sealing, shadows, state};
use guard::hook::facts::Facts;
use guard::hook::withdrawal;
use guard::journal::{ClearMethod, What};

/// How long the screen must stay idle before the module's clear counts as missing.
const MOD_SILENT_MS: i64 = 3_000;

/// How long the screen of a turn must stay idle before the turn counts as interrupted, and how
/// often to look.
const CUT_MS: i64 = 30_000;
const GLANCE_MS: i64 = 1_000;

/// How long the line about a withdrawn boundary is shown.
const WITHDRAWN_SECONDS: u64 = 8;

/// How often to press the same keys without effect before trying another method.
const TRIES: u32 = 2;

/// The same where a dialog, in which a chord does nothing, can't be seen.
const TRIES_UNREAD: u32 = 8;

impl Drive<'_> {
    pub(super) fn clear(&mut self, facts: &mut Facts, token: &Token) -> Result<(), Refusal> {
        if let Some(at) = facts.session.ended {
            self.await_session(facts, at);
            return Ok(());
        }
        // A running turn goes first; when it ends, the decision is made again.
        if facts.session.turn.is_some() {
            // Patience counts only while the client is idle, so earlier refusals no longer count.
            (self.refused, self.pause_ms) = (None, 0);
            self.detect_cut_turn(facts, token);
            return Ok(());
        }
        if let Some((method, at)) = self.pressed {
            return self.await_clear(facts, token, method, at);
        }
        if token.step == Step::Pending && !self.is_due(facts, token) {
            return Ok(());
        }
        if token.step == Step::Clearing && token.tried.contains(&Carrier::Mod) {
            let since = *self.idle_since.get_or_insert(facts.now);
            if !passed(since, MOD_SILENT_MS, facts.now) {
                return Ok(());
            }
        }
        let line = clear_line(facts)?;
        let mut chords = chords_in_force(facts);
        // The chords run `clear` and `brain-guard:resume`.
        chords.clear = chords.clear.filter(|_| line == "/clear");
        let resumes = shadows::shadowing_file(&facts.places, "brain-guard:resume").is_none();
        let kicks_off = chords.resume.is_some() && resumes;
        let id = self.id;
        let mut commit = || {
            let same = |t: &Token| t.carrier == token.carrier && t.step == token.step;
            let still = |t: &Token| same(t) && t.hold.is_none() && !turn_runs(facts);
            let go = |t: &mut Token| {
                let go = still(t);
                if go {
                    t.kicks_off = kicks_off;
                    t.waits = None;
                    t.advance(Step::Clearing, clock::now());
                }
                go
            };
            matches!(boundary::update(&facts.places, id, go), Ok(Some(true)))
        };
        let strokes = chords.clear.filter(|_| !self.typed_only);
        let mut left = self.left_over;
        let terminal = self.terminal(facts, token)?;
        let (method, pressed) = if let Some(strokes) = strokes {
            (ClearMethod::Chord, keyboard::chord(terminal, &strokes, &mut commit))
        } else {
            // The client may read a chord that was just bound in a moment.
            let no_chord = match shadows::shadowing_file(&facts.places, "clear") {
                None => Refusal::later(NO_CHORD),
                Some(file) => Refusal::never(format!(
                    "the client runs {} instead of /clear; type {line} yourself",
                    file.display()
                )),
            };
            let readable = terminal.readable().ok_or(no_chord)?;
            (ClearMethod::Typed, keyboard::typed(readable, &line, &mut commit, &mut left))
        };
        self.left_over = left;
        if pressed? == Pressed::Yes {
            self.pressed = Some((method, clock::now()));
            let (token, carrier) = (token.id.clone(), token.carrier);
            facts.record(What::CarrierActed { token, carrier, method });
        }
        self.calm();
        Ok(())
    }

    /// An interrupted turn (API error, Escape) ends without a `Stop`, so only the screen shows it.
    /// A person who pressed Escape wants to write, so an attended session is left alone.
    fn detect_cut_turn(&mut self, facts: &Facts, token: &Token) {
        if facts.attended() {
            return;
        }
        self.not_before = Some(clock::now() + TimeDelta::milliseconds(GLANCE_MS));
        let idle = match self.terminal(facts, token) {
            Ok(terminal) => terminal.idle(),
            Err(refusal) => Err(refusal),
        };
        if idle != Ok(true) {
            self.idle_since = None;
            return;
        }
        let since = *self.idle_since.get_or_insert(facts.now);
        if passed(since, CUT_MS, facts.now) {
            self.idle_since = None;
            let turn = facts.session.turn;
            facts.update_of(facts.id, |s| {
                if s.turn == turn {
                    (s.turn, s.dialog) = (None, None);
                }
            });
        }
    }

    /// Whether a pending boundary may clear now; shows the notice.
    fn is_due(&mut self, facts: &mut Facts, token: &Token) -> bool {
        let version = sealing::fresh_version(&facts.places, &token.job, &facts.settings);
        let gone = withdrawal::reason(facts, token, withdrawal::ClientCount::default());
        if gone.is_none() && !token.stands(version) {
            self.change(facts, |t| {
                t.fail(EndReason::Edited, facts.now);
            });
            return false;
        }
        self.look_for_typing(facts, token);
        let (gone_at, agents) = (facts.gone_at(), facts.session.background.agents);
        let held = facts.held_reason();
        let settings = &facts.settings.boundary;
        let situation = Situation {
            session: facts.id,
            gone_at,
            held: held.as_deref(),
            has_notes: true,
            gone: gone.as_deref(),
            typed: facts.session.typed,
            agents,
            sealed: true,
            next: None,
            now: facts.now,
            settings,
        };
        let decided = boundary::update(&facts.places, self.id, |t| due(t, &situation));
        match decided {
            Ok(Some(Due::Now)) => true,
            Ok(Some(Due::Later { ms, status, .. })) if self.notice != status => {
                if token.carrier == Carrier::Tmux
                    && let Ok(terminal) = self.terminal(facts, token)
                {
                    // A countdown's next line appears before this one disappears.
                    let ways = "/brain-guard:later keeps this session for 30 min, :now restarts it at once";
                    let text = format!("brain-guard: {status} ({ways})");
                    terminal.notice(&text, ms.div_ceil(1_000) + 1);
                }
                self.notice = status;
                false
            }
            Ok(Some(Due::Held)) => {
                if let Some(why) = gone.filter(|_| token.hold.is_none())
                    && let Ok(terminal) = self.terminal(facts, token)
                {
                    terminal.notice(
                        &withdrawal::line(facts, &why, withdrawal::ClientCount::default()),
                        WITHDRAWN_SECONDS,
                    );
                }
                false
            }
            _ => false,
        }
    }

    /// Remembers a change of the prompt box since the last look.
    fn look_for_typing(&mut self, facts: &mut Facts, token: &Token) {
        let is_early = |(_, at): &(PromptBox, Time)| !passed(*at, GLANCE_MS, facts.now);
        if token.carrier != Carrier::Tmux || self.box_seen.as_ref().is_some_and(is_early) {
            return;
        }
        let shown = self.terminal(facts, token).and_then(|terminal| match terminal.readable() {
            Some(readable) => readable.prompt_box().map(Some),
            None => Ok(None),
        });
        let Ok(Some(shown)) = shown else { return };
        let before = self.box_seen.replace((shown.clone(), facts.now));
        if before.is_some_and(|(before, _)| before != shown) {
            facts.saw_typing(facts.now);
        }
    }

    /// Fails the token if the next session's hook does not advance it in time.
    fn await_session(&self, facts: &Facts, at: Time) {
        let limit = facts.settings.boundary.times.step_seconds.clamp(10, 300) as i64 * 1_000;
        if passed(at, limit, facts.now) {
            self.change(facts, |t| {
                t.fail(EndReason::Late, facts.now);
            });
        }
    }

    /// Handles keys without effect: the session is still the same one after their time.
    fn await_clear(
        &mut self,
        facts: &Facts,
        token: &Token,
        method: ClearMethod,
        at: Time,
    ) -> Result<(), Refusal> {
        if !passed(at, SETTLE_MS, facts.now) {
            return Ok(());
        }
        let line = clear_line(facts)?;
        // Reopens it if an earlier refusal closed it.
        let terminal = self.terminal(facts, token)?;
        let dialog = || Refusal::later("a dialog is open, or a turn runs");
        if !terminal.idle()? {
            return Err(dialog());
        }
        let mut tries = TRIES_UNREAD;
        if let Some(readable) = terminal.readable() {
            tries = TRIES;
            if readable.prompt_box()? == PromptBox::None {
                return Err(dialog());
            }
            if method == ClearMethod::Typed {
                keyboard::take_back(readable, &line)?;
            }
        }
        self.pressed = None;
        self.in_vain += 1;
        if self.in_vain < tries {
            return Ok(());
        }
        self.in_vain = 0;
        if method == ClearMethod::Typed {
            return Err(Refusal::never("the client did not take the typed /clear"));
        }
        if tries == TRIES_UNREAD {
            return Err(Refusal::never("the chord for /clear had no effect; type /clear yourself"));
        }
        self.typed_only = true;
        Ok(())
    }
}

/// The command that clears the session, under a name that no file has.
fn clear_line(facts: &Facts) -> Result<String, Refusal> {
    let name = shadows::free_name(&facts.places, &shadows::CLEAR).map_err(Refusal::never)?;
    Ok(format!("/{name}"))
}

fn turn_runs(facts: &Facts) -> bool {
    let session = state::load(&facts.places, facts.id).ok().flatten();
    session.is_none_or(|s| s.turn.is_some() || s.ended.is_some())
}
