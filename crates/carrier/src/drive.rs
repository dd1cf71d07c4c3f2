//! Performs a boundary through the client's terminal. Each tick makes one check or action, and
//! retries what was refused.

mod clear;
mod turn;

use std::path::Path;
use std::time::Duration;

use chrono::TimeDelta;

use super::chords::{self, Chords};
use super::terminal::{PromptBox, Refusal, Terminal};
use super::{tmux, x11};
use base::clock::{self, Time};
use base::env::Env;
use base::lock::{self, Lock};
use base::switch::Switch;
use guard::boundary::{Carrier, EndReason, Step, Token};
use guard::files::{keybindings, state};
use guard::hook::facts::Facts;
use guard::journal::{ClearMethod, What};

/// How long the effect of a key may take to show. A clear shows within 0.5 s, a turn within 0.1 s
/// (client 2.1.329).
const SETTLE_MS: i64 = 2_500;

/// Refusals shorter than this are not recorded.
const SPOKEN_MS: i64 = 1_000;

/// An open terminal. The lock comes last, so that it is released last.
struct Opened {
    carrier: Carrier,
    terminal: Box<dyn Terminal>,
    _alone: Option<Lock>,
}

/// The state of one boundary that a waiter performs.
pub struct Drive<'a> {
    env: &'a Env,
    project: &'a Path,
    id: &'a str,
    terminal: Option<Opened>,
    pressed: Option<(ClearMethod, Time)>,
    in_vain: u32,
    typed_only: bool,
    /// The keys pressed so far under X11.
    touched: x11::Touched,
    /// Text that we typed may still be in the prompt box.
    left_over: bool,
    kicked: Option<Time>,
    kicks: u32,
    idle_since: Option<Time>,
    refused: Option<(Time, String)>,
    pause_ms: i64,
    not_before: Option<Time>,
    /// The notice that was shown last.
    notice: String,
    /// What the prompt box last held, and when.
    box_seen: Option<(PromptBox, Time)>,
}

impl<'a> Drive<'a> {
    /// Performs the boundary with the token `id` of a project.
    pub fn new(env: &'a Env, project: &'a Path, id: &'a str) -> Self {
        Self {
            env,
            project,
            id,
            terminal: None,
            pressed: None,
            in_vain: 0,
            typed_only: false,
            touched: x11::Touched::default(),
            left_over: false,
            kicked: None,
            kicks: 0,
            idle_since: None,
            refused: None,
            pause_ms: 0,
            not_before: None,
            notice: String::new(),
            box_seen: None,
        }
    }

    /// Checks the token once, and acts at most once.
    pub fn tick(&mut self, token: &Token, now: Time) {
        if self.not_before.is_some_and(|at| now < at) {
            return;
        }
        let id = token.child.as_ref().filter(|_| token.step >= Step::Cleared);
        let id = id.unwrap_or(&token.parent);
        let Some(mut facts) = Facts::for_session(self.env, now, self.project, id) else { return };
        if self.left(&facts, token) {
            return;
        }
        let acted = match token.step {
            Step::Pending | Step::Clearing => self.clear(&mut facts, token),
            Step::Delivered => self.start_turn(&facts, token),
            _ => Ok(()),
        };
        match acted {
            Ok(()) => {}
            Err(refusal) => self.refuse(&facts, token, &refusal),
        }
    }

    /// Ends the boundary if the client is in another session, where nothing may be typed for it.
    fn left(&self, facts: &Facts, token: &Token) -> bool {
        let seat = token.client.and_then(|c| state::seat(&facts.places, c.pid));
        let known = |id: &str| id == token.parent || token.child.as_deref() == Some(id);
        let Some(other) = seat.filter(|id| !known(id)) else { return false };
        // Without its state, nobody knows which boundary cleared the session. One with another
        // token was not cleared for this boundary.
        let Ok(Some(session)) = state::load(&facts.places, &other) else { return false };
        if session.token.as_deref() == Some(&token.id) {
            return false;
        }
        self.change(facts, |t| t.abandon(EndReason::Left, facts.now));
        true
    }

    /// Waits longer after each refusal; when patience runs out, the next carrier takes over.
    fn refuse(&mut self, facts: &Facts, token: &Token, refusal: &Refusal) {
        let why = refusal.to_string();
        let (since, told) = self.refused.take().unwrap_or((facts.now, String::new()));
        // The screen shows a turn's end shortly after its hook; that is not worth a log line.
        let tell = told != why && passed(since, SPOKEN_MS, facts.now);
        let told = if tell { why.clone() } else { told };
        if tell {
            facts.record(What::CarrierWaits {
                token: token.id.clone(),
                carrier: token.carrier,
                why: why.clone(),
            });
            self.change(facts, |t| t.waits = Some(why.clone()));
        }
        self.refused = Some((since, told));
        self.pause_ms = (self.pause_ms * 3 / 2).clamp(150, 2_000);
        self.not_before = Some(clock::now() + TimeDelta::milliseconds(self.pause_ms));
        self.terminal = None;
        let settings = &facts.settings.boundary;
        let limit = |seconds: u64| TimeDelta::seconds(seconds.min(86_400) as i64);
        let waited = facts.now - since;
        let never = matches!(refusal, Refusal::Never(_));
        if token.step > Step::Clearing {
            // The hook then starts the turn.
            if never || waited > limit(settings.times.step_seconds) {
                self.change(facts, |t| t.kicks_off = false);
            }
            return;
        }
        let tried: Vec<_> = token.tried.iter().chain([&token.carrier]).copied().collect();
        let next = facts.carrier_after(&tried).chosen;
        let other = next.filter(|c| *c != Carrier::Manual);
        let over = waited > limit(settings.times.give_up_seconds);
        let turn_over =
            never || over || (other.is_some() && waited > limit(settings.times.step_seconds * 3));
        if turn_over {
            let next = if never { next } else { other };
            self.change(facts, |t| t.hand_on(next, why.as_str(), facts.now));
            let (token, carrier) = (token.id.clone(), token.carrier);
            facts.record(What::CarrierGaveUp { token, carrier, next, why });
            (self.pressed, self.refused, self.typed_only) = (None, None, false);
        }
    }

    /// Ends a series of retries after an action, and frees the display for other boundaries.
    fn calm(&mut self) {
        (self.refused, self.pause_ms, self.not_before) = (None, 0, None);
        self.terminal = self.terminal.take().filter(|kept| kept.carrier != Carrier::X11);
    }

    /// The terminal of the token's carrier, opened if needed.
    fn terminal(&mut self, facts: &Facts, token: &Token) -> Result<&mut dyn Terminal, Refusal> {
        let kept = self.terminal.take().filter(|kept| kept.carrier == token.carrier);
        let opened = match kept {
            Some(kept) => kept,
            None => open(facts, token, self.touched.clone())?,
        };
        Ok(self.terminal.insert(opened).terminal.as_mut())
    }

    fn change(&self, facts: &Facts, change: impl FnOnce(&mut Token)) {
        facts.change_token(self.id, change);
    }
}

fn open(facts: &Facts, token: &Token, touched: x11::Touched) -> Result<Opened, Refusal> {
    let client = token.client.ok_or_else(|| Refusal::never("the client's process is not known"))?;
    let gone = || Refusal::never("the client's terminal is not known");
    let reach = facts.session.reach.as_ref().ok_or_else(gone)?;
    let carrier = token.carrier;
    match carrier {
        Carrier::Tmux => {
            let place = reach.tmux.open().ok_or_else(gone)?.clone();
            let terminal = Box::new(tmux::Pane::open(place, client)?);
            Ok(Opened { carrier, terminal, _alone: None })
        }
        Carrier::X11 => {
            let place = reach.x11.open().ok_or_else(gone)?.clone();
            let idle = Duration::from_secs(facts.settings.boundary.times.x11_idle_seconds);
            // Two boundaries would share one focus.
            let lock = facts.places.display_lock(&place.display);
            let alone = lock::acquire(&lock, Duration::ZERO)
                .map_err(|_| Refusal::later("another boundary uses this display"))?;
            let terminal = x11::open(place, client, x11::Options { idle, touched })?;
            Ok(Opened { carrier, terminal, _alone: Some(alone) })
        }
        Carrier::Mod | Carrier::Manual => Err(gone()),
    }
}

/// The chords that the client has loaded by now.
fn chords_in_force(facts: &Facts) -> Chords {
    let config = facts.places.client_config();
    let bound = config.and_then(|c| keybindings::read(&keybindings::path(c)).ok().flatten());
    match (facts.settings.boundary.chords, bound) {
        (Switch::On, Some((text, changed))) if chords::loaded(changed, facts.now) => {
            chords::find(&text)
        }
        _ => Chords::default(),
    }
}

fn passed(since: Time, ms: i64, now: Time) -> bool {
    now - since >= TimeDelta::milliseconds(ms)
}

#[cfg(test)]
pub(crate) mod tests;
