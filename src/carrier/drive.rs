//! The waiter's hands: carries a boundary through the client's terminal or the
//! user's program, one look or act a tick, and tries again what was refused.

use std::path::Path;

use chrono::Duration;
use serde_json::json;

use super::chords::{self, Chords};
use super::command::{self, Chord, Plan};
use super::keyboard::{self, Pressed};
use super::terminal::{PromptBox, Refusal, Terminal};
use super::{tmux, x11};
use crate::boundary::plan::{Due, Situation, due};
use crate::boundary::{Carrier, EDITED, Inject, LEFT, Step, Token};
use crate::clock::{self, Time};
use crate::env::Env;
use crate::hook::deliver;
use crate::hook::facts::Facts;
use crate::log;
use crate::settings::Switch;
use crate::store::{boundary, sealing, state};
use crate::texts::{Text, say};

/// How long what was pressed may take to show. A clear comes within 0.5 s, a
/// turn within 0.1 s of its key (client 2.1.329).
const SETTLE_MS: i64 = 2_500;

/// How long the screen must stay idle before the module's clear counts as not coming.
const MOD_SILENT_MS: i64 = 3_000;

/// How often the same keys are pressed without effect before another road is tried.
const TRIES: u32 = 2;

/// How often the new session's first turn is asked for before the hook starts it.
const KICKS: u32 = 3;

/// How the session was cleared, or was to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Road {
    Chord,
    Typed,
    Program,
}

/// One boundary in the hands of a waiter.
pub struct Drive<'a> {
    env: &'a Env,
    project: &'a Path,
    id: &'a str,
    terminal: Option<(Carrier, Box<dyn Terminal>)>,
    pressed: Option<(Road, Time)>,
    in_vain: u32,
    typed_only: bool,
    kicked: Option<Time>,
    kicks: u32,
    idle_since: Option<Time>,
    refused: Option<(Time, String)>,
    pause_ms: i64,
    not_before: Option<Time>,
    noticed: bool,
}

impl<'a> Drive<'a> {
    /// For the token `id` of a project.
    pub fn new(env: &'a Env, project: &'a Path, id: &'a str) -> Self {
        Self {
            env,
            project,
            id,
            terminal: None,
            pressed: None,
            in_vain: 0,
            typed_only: false,
            kicked: None,
            kicks: 0,
            idle_since: None,
            refused: None,
            pause_ms: 0,
            not_before: None,
            noticed: false,
        }
    }

    /// One look at the token, and at most one act.
    pub fn tick(&mut self, token: &Token, now: Time) {
        if self.not_before.is_some_and(|at| now < at) {
            return;
        }
        let id = token.child.as_ref().filter(|_| token.step >= Step::Cleared);
        let id = id.unwrap_or(&token.parent);
        let Some(facts) = Facts::for_session(self.env, now, self.project, id) else { return };
        if self.left(&facts, token) {
            return;
        }
        let acted = match token.step {
            Step::Pending | Step::Clearing => self.clear(&facts, token),
            Step::Cleared if token.inject == Inject::Paste => self.paste(&facts, token),
            Step::Delivered => self.start_turn(&facts, token),
            _ => Ok(()),
        };
        match acted {
            Ok(()) => {}
            Err(refusal) => self.refuse(&facts, token, refusal),
        }
    }

    /// The client is in another session: nothing of this one may be typed there.
    fn left(&self, facts: &Facts, token: &Token) -> bool {
        let seat = token.client.and_then(|c| state::seat(&facts.places, c.pid));
        let known = |id: &str| id == token.parent || token.child.as_deref() == Some(id);
        let Some(other) = seat.filter(|id| !known(id)) else { return false };
        self.change(facts, |t| t.abandon(LEFT, facts.now));
        note(facts, "left", &json!({"token": token.id, "to": other}));
        true
    }

    fn clear(&mut self, facts: &Facts, token: &Token) -> Result<(), Refusal> {
        // What runs now runs before any clear: its end decides anew.
        if facts.session.turn.is_some() {
            self.idle_since = None;
            return Ok(());
        }
        if let Some((road, at)) = self.pressed {
            return self.await_clear(facts, road, at);
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
        let chords = self.chords(facts);
        let kicks_off = chords.resume.is_some() && token.carrier != Carrier::Command;
        let id = self.id;
        let mut commit = || {
            let same = |t: &Token| t.carrier == token.carrier && t.step == token.step;
            let still = |t: &Token| same(t) && !t.cancelled && !turn_runs(facts);
            let go = |t: &mut Token| {
                let go = still(t);
                if go {
                    t.kicks_off = kicks_off && t.inject == Inject::Hook;
                    t.advance(Step::Clearing, clock::now());
                }
                go
            };
            matches!(boundary::update(&facts.places, id, go), Ok(Some(true)))
        };
        let (road, pressed) = if token.carrier == Carrier::Command {
            let plan = plan(facts, token, "clear", "/clear", &chords);
            let pressed = if commit() {
                command::run(&facts.settings.boundary.command, &plan)?;
                Pressed::Yes
            } else {
                Pressed::CalledOff
            };
            (Road::Program, pressed)
        } else {
            let strokes = chords.clear.filter(|_| !self.typed_only);
            let terminal = self.terminal(facts, token)?;
            match strokes {
                Some(strokes) => (Road::Chord, keyboard::chord(terminal, &strokes, &mut commit)?),
                None => (Road::Typed, keyboard::typed(terminal, &mut commit)?),
            }
        };
        if pressed == Pressed::Yes {
            self.pressed = Some((road, clock::now()));
            let details = json!({"token": token.id, "carrier": token.carrier, "road": format!("{road:?}").to_lowercase()});
            note(facts, "carrier-acted", &details);
        }
        self.calm();
        Ok(())
    }

    /// Whether a pending boundary may clear now; shows the notice.
    fn is_due(&mut self, facts: &Facts, token: &Token) -> bool {
        let calls = || state::calls(&facts.places, facts.id);
        if facts.session.overridden(facts.now, calls) {
            self.change(facts, Token::cancel);
            return false;
        }
        let version = sealing::fresh_version(&facts.places, &token.job, &facts.settings);
        if version != Some(token.version) {
            self.change(facts, |t| {
                t.fail(EDITED, facts.now);
            });
            return false;
        }
        let (attended, agents) = (facts.attended(), facts.session.agents);
        let settings = &facts.settings.boundary;
        let situation = Situation {
            session: facts.id,
            attended,
            agents,
            sealed: true,
            now: facts.now,
            settings,
        };
        let decided = boundary::update(&facts.places, self.id, |t| due(t, &situation));
        match decided {
            Ok(Some(Due::Now)) => true,
            Ok(Some(Due::Later { ms, status })) if !self.noticed => {
                self.noticed = true;
                if let Ok(terminal) = self.terminal(facts, token) {
                    terminal.notice(&format!("brain-guard: {status}"), ms.div_ceil(1000));
                }
                false
            }
            Ok(Some(Due::Held)) => {
                self.noticed = false;
                false
            }
            _ => false,
        }
    }

    /// What was pressed has had its time: the session is still the same one.
    fn await_clear(&mut self, facts: &Facts, road: Road, at: Time) -> Result<(), Refusal> {
        if !passed(at, SETTLE_MS, facts.now) {
            return Ok(());
        }
        if road == Road::Program {
            return Err(Refusal::never("the program ended, but the session was not cleared"));
        }
        let Some((_, terminal)) = self.terminal.as_mut() else { return Ok(()) };
        if !terminal.idle()? || terminal.prompt_box()? == PromptBox::None {
            return Err(Refusal::later("a dialog is open, or a turn runs"));
        }
        if road == Road::Typed {
            keyboard::take_back(terminal.as_mut())?;
        }
        self.pressed = None;
        self.in_vain += 1;
        note(
            facts,
            "carrier-in-vain",
            &json!({"token": self.id, "road": format!("{road:?}").to_lowercase()}),
        );
        if self.in_vain < TRIES {
            return Ok(());
        }
        self.in_vain = 0;
        if road == Road::Typed {
            return Err(Refusal::never("the client did not take the typed /clear"));
        }
        self.typed_only = true;
        Ok(())
    }

    fn paste(&mut self, facts: &Facts, token: &Token) -> Result<(), Refusal> {
        let running = || state::load(&facts.places, facts.id).ok().flatten();
        if facts.session.prompts > 0
            || self.kicked.is_some_and(|at| !passed(at, SETTLE_MS, facts.now))
        {
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
        let values = [("job", token.job.as_str()), ("path", token.sealed.as_str())];
        let line = say(&facts.places, Text::PasteLine, &values).to_lowercase();
        let line = format!("{} ", line.trim());
        if token.carrier == Carrier::Command {
            let chords = self.chords(facts);
            let plan = Plan { text: Some(&text), ..plan(facts, token, "paste", &line, &chords) };
            if commit() {
                command::run(&facts.settings.boundary.command, &plan)?;
            }
        } else {
            keyboard::pasted(self.terminal(facts, token)?, &line, &text, &mut commit)?;
        }
        self.kicked = Some(clock::now());
        self.calm();
        Ok(())
    }

    /// The file is there; the turn is not, or it ended without an answer.
    fn start_turn(&mut self, facts: &Facts, token: &Token) -> Result<(), Refusal> {
        let first = facts.session.prompts == 0;
        if first && !token.kicks_off {
            return Ok(());
        }
        let back_off = if first {
            Duration::milliseconds(SETTLE_MS)
        } else {
            let tries = &facts.settings.boundary.retry_seconds;
            let Some(seconds) = tries.get(token.unanswered as usize) else { return Ok(()) };
            Duration::seconds((*seconds).min(86_400) as i64)
        };
        let last = self.kicked.max(facts.session.turn);
        let waiting = last.is_some_and(|at| facts.now - at < back_off);
        // A turn that ended well was answered; only the screen tells of one that was cut.
        if waiting || (!first && facts.session.turn.is_none()) {
            return Ok(());
        }
        let Some(strokes) = self.chords(facts).resume.filter(|_| self.kicks < KICKS || !first)
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

    /// Backs off; past its patience the next carrier takes over.
    fn refuse(&mut self, facts: &Facts, token: &Token, refusal: Refusal) {
        let why = refusal.to_string();
        let (since, told) = self.refused.take().unwrap_or((facts.now, String::new()));
        if told != why {
            note(
                facts,
                "carrier-waits",
                &json!({"token": token.id, "carrier": token.carrier, "why": why}),
            );
        }
        self.refused = Some((since, why.clone()));
        self.pause_ms = (self.pause_ms * 3 / 2).clamp(150, 2_000);
        self.not_before = Some(clock::now() + Duration::milliseconds(self.pause_ms));
        self.terminal = None;
        let settings = &facts.settings.boundary;
        let limit = |seconds: u64| Duration::seconds(seconds.min(86_400) as i64);
        let waited = facts.now - since;
        let never = matches!(refusal, Refusal::Never(_));
        if token.step > Step::Clearing {
            // The hook starts the turn, and attaches the file where it was not pasted.
            if never || waited > limit(settings.step_seconds) {
                self.change(facts, |t| (t.kicks_off, t.inject) = (false, Inject::Hook));
            }
            return;
        }
        let tried: Vec<_> = token.tried.iter().chain([&token.carrier]).copied().collect();
        let next = facts.carrier_after(&tried).chosen;
        let other = next.filter(|c| *c != Carrier::Manual);
        let over = waited > limit(settings.give_up_seconds);
        let turn_over =
            never || over || (other.is_some() && waited > limit(settings.step_seconds * 3));
        if turn_over {
            let next = if never { next } else { other };
            self.change(facts, |t| t.hand_on(next, &why, facts.now));
            note(
                facts,
                "carrier-gave-up",
                &json!({"token": token.id, "carrier": token.carrier, "next": next, "why": why}),
            );
            (self.pressed, self.refused, self.typed_only) = (None, None, false);
        }
    }

    fn calm(&mut self) {
        (self.refused, self.pause_ms, self.not_before) = (None, 0, None);
    }

    fn chords(&self, facts: &Facts) -> Chords {
        match facts.settings.boundary.chords {
            Switch::On => chords::in_force(self.env, facts.now),
            Switch::Off => Chords::default(),
        }
    }

    /// The terminal of the token's carrier, opened where it is not yet.
    fn terminal(&mut self, facts: &Facts, token: &Token) -> Result<&mut dyn Terminal, Refusal> {
        let kept = self.terminal.take().filter(|(carrier, _)| *carrier == token.carrier);
        let opened = match kept {
            Some(kept) => kept,
            None => (token.carrier, open(facts, token)?),
        };
        Ok(self.terminal.insert(opened).1.as_mut())
    }

    fn change(&self, facts: &Facts, change: impl FnOnce(&mut Token)) {
        if let Err(e) = boundary::update(&facts.places, self.id, change) {
            facts.fault("token not moved", &e);
        }
    }
}

fn open(facts: &Facts, token: &Token) -> Result<Box<dyn Terminal>, Refusal> {
    let client = token.client.ok_or_else(|| Refusal::never("the client's process is not known"))?;
    let gone = || Refusal::never("the client's terminal is not known");
    let reach = facts.session.reach.as_ref().ok_or_else(gone)?;
    match token.carrier {
        Carrier::Tmux => {
            let place = reach.tmux.open().ok_or_else(gone)?.clone();
            Ok(Box::new(tmux::Pane::open(place, client)?))
        }
        Carrier::X11 => {
            let place = reach.x11.open().ok_or_else(gone)?.clone();
            let idle = facts.settings.boundary.x11_idle_seconds;
            Ok(Box::new(x11::Window::open(place, client, idle)?))
        }
        Carrier::Mod | Carrier::Command | Carrier::Manual => Err(gone()),
    }
}

fn plan<'p>(
    facts: &'p Facts,
    token: &'p Token,
    action: &'p str,
    line: &'p str,
    chords: &Chords,
) -> Plan<'p> {
    Plan {
        version: 1,
        action,
        token: &token.id,
        job: &token.job,
        session: facts.id,
        client: token.client,
        project: facts.places.project.to_str().unwrap_or_default(),
        sealed: &token.sealed,
        deadline_seconds: facts.settings.boundary.step_seconds.clamp(1, 3600),
        chord: chords.clear.as_deref().map(Chord::of),
        line,
        text: None,
    }
}

fn turn_runs(facts: &Facts) -> bool {
    let session = state::load(&facts.places, facts.id).ok().flatten();
    session.is_none_or(|s| s.turn.is_some())
}

fn passed(since: Time, ms: i64, now: Time) -> bool {
    now - since >= Duration::milliseconds(ms)
}

fn note(facts: &Facts, kind: &str, details: &serde_json::Value) {
    log::write(&facts.places.log(), facts.now, kind, details);
}
