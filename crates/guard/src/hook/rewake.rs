//! `hook --rewake`: starts a turn where nothing else does. After a clear, it starts the new
//! session's first turn. After a turn, it resumes a session that could not be cleared.

use std::ops::ControlFlow;
use std::time::Duration;

use super::boundary_flow::wait_for;
use super::deliver;
use super::event::{Event, Kind, Source};
use super::facts::Facts;
use super::reply::{Agent, Reply};
use super::watch;
use super::{session, unsealed, wait_for_main_hook};
use crate::boundary::{Carrier, EndReason, Step, Token};
use crate::files::boundary;
use crate::files::state;
use crate::session::Session;
use crate::texts::Text;
use base::clock;

/// How long this hook follows a turn's end. It stays below the timeout in `hooks.json`.
const FOLLOWED: Duration = Duration::from_secs(3_500);

/// How often it checks the token.
const GLANCE: Duration = Duration::from_millis(200);

/// It makes sure that the waiter lives once in this many checks.
const WATCHED: u128 = 25;

/// How long the main hook of a turn's end may take. `hooks.json` allows 5 s.
const MAIN_HOOK: Duration = Duration::from_secs(6);

/// A boundary that failed at most this long before the hook started failed at this turn's end.
const JUST: chrono::TimeDelta = chrono::TimeDelta::seconds(2);

/// Reasons of a failure after which somebody else continues, or nobody should.
const ANSWERED_OTHERWISE: [EndReason; 3] =
    [EndReason::Edited, EndReason::Left, EndReason::ClientEnded];

/// Handles the event.
pub fn handle(facts: &mut Facts, event: &Event) -> Reply {
    match event.kind {
        Kind::Stop { .. } | Kind::TurnFailed if !event.subagent => after_stop(facts),
        Kind::SessionStart { .. } => after_clear(facts, event),
        _ => Reply::default(),
    }
}

/// Starts the first turn of a cleared session: at once if the hooks deliver, or after the carrier
/// failed to.
fn after_clear(facts: &mut Facts, event: &Event) -> Reply {
    let mut token = wait_for_main_hook(facts, event, MAIN_HOOK);
    if token.is_none() {
        if let Some(reply) = start_late_session(facts, event) {
            return reply;
        }
        token = facts.token();
    }
    let Some(token) = token else { return Reply::default() };
    if token.carrier_starts() && !take_over(facts, &token) {
        return Reply::default();
    }
    Reply { wake: Some(deliver::boundary_text(facts, &token, Text::Wake, &[])), ..Reply::default() }
}

/// Starts a session whose main hook was killed, for example at its timeout. The text of that hook
/// starts the turn. `None` if no turn is needed.
fn start_late_session(facts: &mut Facts, event: &Event) -> Option<Reply> {
    if !facts.unseen {
        return None;
    }
    let note = session::start(facts, event, Source::Clear, None);
    let token = facts.token().filter(|t| t.step == Step::Delivered)?;
    let Some(Agent::Note(_, text)) = note.agent else { return None };
    facts.change_token(&token.id, |t| t.kicks_off = false);
    facts.fault("session begun late", &"the hook of its start was not done in time");
    Some(Reply { wake: Some(text), ..Reply::default() })
}

/// Waits for the carrier to start the turn. `true` if the carrier leaves it to the hook or runs out
/// of time.
fn take_over(facts: &Facts, token: &Token) -> bool {
    let patience = Duration::from_secs(facts.settings.boundary.times.step_seconds.clamp(1, 300));
    let began = |token: &Token| match token.carrier {
        Carrier::Mod => token.step != Step::Cleared,
        _ => load_session(facts).is_none_or(|s| s.prompts > 0),
    };
    // Without a token there is no turn to start.
    let over = |token: &Token| began(token) || !token.carrier_starts() || !token.live();
    wait_for(patience, || load(facts, token).is_none_or(|token| over(&token)));
    let taken = facts.change_token(&token.id, |token| {
        if began(token) || !token.live() {
            return false;
        }
        // The carrier does nothing after this.
        token.kicks_off = false;
        true
    });
    taken == Some(true)
}

/// Watches after the agent ended its turn for a clear that may not come. Without a person the run
/// would stop. A person who is there now may leave before it fails.
fn after_stop(facts: &mut Facts) -> Reply {
    let Some(session) = turn_ended(facts) else { return Reply::default() };
    let prompts = session.prompts;
    facts.session = session;
    let token = facts.token();
    // It may have failed before the first check. An older failure belongs to another turn.
    let just = |t: &Token| t.awaits_carrier_or_failed(facts.id) && t.since + JUST >= facts.now;
    let waits = |t: &Token| t.awaits_carrier(facts.id) || t.waits_for_person(facts.id) || just(t);
    let Some(mut token) = token.filter(waits) else { return Reply::default() };
    for glance in 0..FOLLOWED.as_millis() / GLANCE.as_millis() {
        let Some(session) = load_session(facts) else { return Reply::default() };
        // A prompt or `now` from a person counts at once.
        facts.session = session;
        let session = &facts.session;
        let same = session.prompts == prompts && session.ended.is_none();
        let there = session.client.is_none_or(|c| state::client(c.pid) == Some(c));
        let goes_on =
            |t: &Token| t.awaits_carrier_or_failed(facts.id) || t.waits_for_person(facts.id);
        let Some(found) = load(facts, &token).filter(goes_on) else { return Reply::default() };
        token = found;
        if !same || !there {
            return Reply::default();
        }
        let attended = facts.attended_at(clock::now());
        if token.step == Step::Unsealed {
            let calls = || state::calls(&facts.places, facts.id);
            let is_held = facts.session.overridden(clock::now(), calls);
            if (!attended && !is_held) || token.at_once {
                match person_left(facts, &token) {
                    ControlFlow::Continue(opened) => token = opened,
                    ControlFlow::Break(reply) => return reply,
                }
            }
        } else if token.step == Step::Failed {
            if token.why.as_ref().is_some_and(|why| ANSWERED_OTHERWISE.contains(why)) {
                return Reply::default();
            }
            if !attended {
                return go_on(facts, &token);
            }
        } else if token.carrier == Carrier::Manual && !attended {
            // The person who was asked to type it left.
            facts.change_token(&token.id, |t| {
                t.awaits_carrier(facts.id) && t.fail(EndReason::Late, clock::now())
            });
        } else if glance % WATCHED == 0
            && let Err(e) = watch::start(facts.env, &facts.places, &token.id)
        {
            // It usually has one. If that was killed, nothing would act.
            facts.fault("waiter not started", &e);
        }
        std::thread::sleep(GLANCE);
    }
    Reply::default()
}

/// The session after the main hook saved the turn's end, or `None` if the turn continues or another
/// one began, which has a hook of its own. The main hook may use all its time if tmux hangs.
fn turn_ended(facts: &Facts) -> Option<Session> {
    for _ in 0..MAIN_HOOK.as_millis() / GLANCE.as_millis() {
        let session = load_session(facts)?;
        if session.prompts != facts.session.prompts {
            return None;
        }
        if session.turn.is_none() {
            return Some(session);
        }
        std::thread::sleep(GLANCE);
    }
    None
}

/// Handles that the awaited person left, with facts read now and not at the turn's end.
fn person_left(facts: &Facts, token: &Token) -> ControlFlow<Reply, Token> {
    let now = clock::now();
    let program = facts.program;
    let facts = Facts::for_session(facts.env, now, &facts.places.project, facts.id);
    let Some(mut facts) = facts else { return ControlFlow::Break(Reply::default()) };
    facts.program = program;
    unsealed::person_left(&mut facts, token)
}

fn go_on(facts: &Facts, token: &Token) -> Reply {
    let why = token.why.as_ref().map_or("no reason was given".into(), EndReason::to_string);
    if !boundary::claim_failure(&facts.places, token) {
        return Reply::default();
    }
    Reply { wake: Some(super::jobs::not_cleared_text(facts, token, &why)), ..Reply::default() }
}

fn load(facts: &Facts, token: &Token) -> Option<Token> {
    boundary::load(&facts.places, &token.id).ok().flatten()
}

fn load_session(facts: &Facts) -> Option<Session> {
    state::load(&facts.places, facts.id).ok().flatten()
}
