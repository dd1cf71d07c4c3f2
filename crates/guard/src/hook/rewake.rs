//! `hook --rewake`: starts a turn where nobody else does. After a clear, the
//! new session's first one; after a turn's end, the next one of a session that
//! was to be cleared and could not be.

use std::ops::ControlFlow;
use std::time::Duration;

use serde_json::json;

use super::boundary_flow::wait_for;
use super::deliver;
use super::event::{Event, Kind, Source};
use super::facts::Facts;
use super::reply::{Agent, Reply};
use super::watch;
use super::{main_hook_is_done, session, unsealed};
use crate::boundary::{
    CLIENT_ENDED, Carrier, EDITED, Inject, LATE, LEFT, MOVED_ON, PROMPTED, SEALED_ANEW, Step, Token,
};
use crate::files::boundary;
use crate::files::state;
use crate::session::Session;
use crate::texts::Text;
use base::atomic;
use base::clock;
use base::log;

/// How long a turn's end is followed; below the time that `hooks.json` gives.
const FOLLOWED: Duration = Duration::from_secs(3_500);

/// How often the token is looked at meanwhile.
const GLANCE: Duration = Duration::from_millis(200);

/// At every how-manieth look the token's waiter is made sure of.
const WATCHED: u128 = 25;

/// How long the main hook of a turn's end may take; `hooks.json` gives it 5 s.
const MAIN_HOOK: Duration = Duration::from_secs(6);

/// A boundary that failed no longer before this hook began failed at this turn's end.
const JUST: chrono::TimeDelta = chrono::TimeDelta::seconds(2);

/// Ends of a boundary after which somebody else goes on, or nobody is to.
const ANSWERED_OTHERWISE: [&str; 6] = [EDITED, LEFT, CLIENT_ENDED, SEALED_ANEW, MOVED_ON, PROMPTED];

/// Handles the event.
pub fn handle(facts: &mut Facts, event: &Event) -> Reply {
    match event.kind {
        Kind::Stop { .. } | Kind::TurnFailed if !event.subagent => after_stop(facts),
        Kind::SessionStart { .. } => after_clear(facts, event),
        _ => Reply::default(),
    }
}

/// Starts the first turn of a cleared session: at once where the hooks deliver,
/// and where the carrier should have, once it has not.
fn after_clear(facts: &mut Facts, event: &Event) -> Reply {
    if !main_hook_is_done(facts, event, MAIN_HOOK)
        && let Some(reply) = in_its_place(facts, event)
    {
        return reply;
    }
    let Some(token) = facts.token() else { return Reply::default() };
    if token.carrier_starts() && !take_over(facts, &token) {
        return Reply::default();
    }
    Reply { wake: Some(deliver::about(facts, &token, Text::Wake, &[])), ..Reply::default() }
}

/// Begins a session whose main hook was killed, by its deadline say, and lets what
/// that would have told start the turn. `None` where there is nothing to start it for.
fn in_its_place(facts: &mut Facts, event: &Event) -> Option<Reply> {
    if !facts.unseen {
        return None;
    }
    let note = session::start(facts, event, Source::Clear, None);
    let token = facts.token().filter(|t| t.step == Step::Delivered)?;
    let Some(Agent::Note(_, text)) = note.agent else { return None };
    let quiet = boundary::update(&facts.places, &token.id, |t| t.kicks_off = false);
    if let Err(e) = quiet {
        facts.fault("token not moved", &e);
    }
    facts.fault("session begun late", &"the hook of its start was not done in time");
    Some(Reply { wake: Some(text), ..Reply::default() })
}

/// Waits for the carrier to start the turn; `true` once it is left to the hook,
/// by the carrier itself or because it had its time.
fn take_over(facts: &Facts, token: &Token) -> bool {
    let patience = Duration::from_secs(facts.settings.boundary.step_seconds.clamp(1, 300));
    let began = |token: &Token| match token.carrier {
        Carrier::Mod => token.step != Step::Cleared,
        _ => now(facts).is_none_or(|s| s.prompts > 0),
    };
    // A token that is gone has nobody left to start a turn for.
    let over = |token: &Token| began(token) || !token.carrier_starts() || !token.live();
    wait_for(patience, || load(facts, token).is_none_or(|token| over(&token)));
    let taken = boundary::update(&facts.places, &token.id, |token| {
        if began(token) || !token.live() {
            return false;
        }
        // From here on the carrier keeps its hands off.
        (token.kicks_off, token.inject) = (false, Inject::Hook);
        true
    });
    let taken = matches!(taken, Ok(Some(true)));
    if taken {
        let details =
            json!({"token": token.id, "session": facts.id, "carrier": token.carrier.name()});
        log::write(&facts.places.log(), facts.now, "hook-starts-the-turn", &details);
    }
    taken
}

/// The agent ended its turn for a clear that does not come: with nobody there
/// the run would stand still. Whoever is there now may be gone when it fails.
fn after_stop(facts: &mut Facts) -> Reply {
    let Some(session) = turn_ended(facts) else { return Reply::default() };
    let prompts = session.prompts;
    facts.session = session;
    let token = facts.token();
    // It may have failed before this first look; an older failure is not this turn's.
    let just = |t: &Token| t.holds_or_failed(facts.id) && t.since + JUST >= facts.now;
    let waits = |t: &Token| t.holds(facts.id) || t.waits_for_person(facts.id) || just(t);
    let Some(mut token) = token.filter(waits) else { return Reply::default() };
    for glance in 0..FOLLOWED.as_millis() / GLANCE.as_millis() {
        let Some(session) = now(facts) else { return Reply::default() };
        // What a person says meanwhile (`now`, a prompt) counts at once.
        facts.session = session;
        let session = &facts.session;
        let same = session.prompts == prompts && session.ended.is_none();
        let there = session.client.is_none_or(|c| state::client(c.pid) == Some(c));
        let goes_on = |t: &Token| t.holds_or_failed(facts.id) || t.waits_for_person(facts.id);
        let Some(found) = load(facts, &token).filter(goes_on) else { return Reply::default() };
        token = found;
        if !same || !there {
            return Reply::default();
        }
        let attended = facts.attended_at(clock::now());
        if token.step == Step::Unsealed {
            if !attended {
                match person_left(facts, &token) {
                    ControlFlow::Continue(opened) => token = opened,
                    ControlFlow::Break(reply) => return reply,
                }
            }
        } else if token.step == Step::Failed {
            if ANSWERED_OTHERWISE.contains(&token.why.as_deref().unwrap_or_default()) {
                return Reply::default();
            }
            if !attended {
                return go_on(facts, &token);
            }
        } else if token.carrier == Carrier::Manual && !attended {
            // Who was asked to type it has gone.
            let late = boundary::update(&facts.places, &token.id, |t| {
                t.holds(facts.id) && t.fail(LATE, clock::now())
            });
            if let Err(e) = late {
                facts.fault("token not moved", &e);
            }
        } else if glance % WATCHED == 0
            && let Err(e) = watch::start(facts.env, &facts.places, &token.id)
        {
            // It has one as a rule; one that was killed leaves nobody who acts.
            facts.fault("waiter not started", &e);
        }
        std::thread::sleep(GLANCE);
    }
    Reply::default()
}

/// The session once the main hook has taken the turn's end down; `None` where the
/// turn goes on. That hook may take all its time beside a tmux that hangs.
fn turn_ended(facts: &Facts) -> Option<Session> {
    let mut ended = None;
    for _ in 0..MAIN_HOOK.as_millis() / GLANCE.as_millis() {
        ended = now(facts).filter(|s| s.turn.is_none());
        if ended.is_some() {
            break;
        }
        std::thread::sleep(GLANCE);
    }
    ended
}

/// The person who was waited for is gone: by what holds now, not when the turn ended.
fn person_left(facts: &Facts, token: &Token) -> ControlFlow<Reply, Token> {
    let now = clock::now();
    let outside = facts.outside;
    let facts = Facts::for_session(facts.env, now, &facts.places.project, facts.id);
    let Some(mut facts) = facts else { return ControlFlow::Break(Reply::default()) };
    facts.outside = outside;
    unsealed::person_left(&mut facts, token)
}

fn go_on(facts: &Facts, token: &Token) -> Reply {
    let why = token.why.as_deref().unwrap_or("no reason was given");
    let claim = facts.places.token(&token.id).with_extension("go-on");
    if !atomic::claim(&claim).unwrap_or(false) {
        return Reply::default();
    }
    log::write(
        &facts.places.log(),
        clock::now(),
        "goes-on",
        &json!({"token": token.id, "why": why}),
    );
    Reply { wake: Some(super::jobs::stays(facts, token, why)), ..Reply::default() }
}

fn load(facts: &Facts, token: &Token) -> Option<Token> {
    boundary::load(&facts.places, &token.id).ok().flatten()
}

fn now(facts: &Facts) -> Option<Session> {
    state::load(&facts.places, facts.id).ok().flatten()
}
