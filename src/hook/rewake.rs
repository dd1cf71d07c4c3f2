//! `hook --rewake`: starts a turn where nobody else does. After a clear, the
//! new session's first one; after a turn's end, the next one of a session that
//! was to be cleared and could not be.

use std::time::Duration;

use serde_json::json;

use super::crossing::wait_for;
use super::event::{Event, Kind};
use super::facts::Facts;
use super::reply::Reply;
use super::{SIDECAR_PATIENCE, main_hook_is_done};
use crate::boundary::{CLIENT_ENDED, Carrier, EDITED, Inject, LEFT, SEALED_ANEW, Step, Token};
use crate::log;
use crate::store::state::{self, Session};
use crate::store::{atomic, boundary};
use crate::texts::{Text, say};

/// How long a turn's end is followed; below the time that `hooks.json` gives.
const FOLLOWED: Duration = Duration::from_secs(3_500);

/// How often the token is looked at meanwhile.
const GLANCE: Duration = Duration::from_millis(200);

/// Handles the event.
pub fn handle(facts: &mut Facts, event: &Event) -> Reply {
    match event.kind {
        Kind::Stop { .. } if !event.subagent => after_stop(facts),
        Kind::SessionStart { .. } => after_clear(facts, event),
        _ => Reply::default(),
    }
}

/// Starts the first turn of a cleared session: at once where the hooks deliver,
/// and where the carrier should have, once it has not.
fn after_clear(facts: &mut Facts, event: &Event) -> Reply {
    if !main_hook_is_done(facts, event) {
        return Reply::default();
    }
    let Some(token) = facts.token() else { return Reply::default() };
    if token.carrier_starts() && !take_over(facts, &token) {
        return Reply::default();
    }
    let values = [
        ("job", token.job.as_str()),
        ("token", token.id.as_str()),
        ("path", token.sealed.as_str()),
    ];
    Reply { wake: Some(say(&facts.places, Text::Wake, &values)), ..Reply::default() }
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
/// the run would stand still.
fn after_stop(facts: &Facts) -> Reply {
    wait_for(SIDECAR_PATIENCE, || now(facts).is_none_or(|s| s.turn.is_none()));
    let Some(session) = now(facts).filter(|s| s.turn.is_none()) else { return Reply::default() };
    let token = session.token.as_deref().and_then(|id| boundary::load(&facts.places, id).ok()?);
    let Some(token) = token.filter(|t| t.holds(facts.id) && t.carrier != Carrier::Manual) else {
        return Reply::default();
    };
    let mut failed = None;
    let mut waited = Duration::ZERO;
    while waited < FOLLOWED {
        let same = now(facts).is_some_and(|s| s.prompts == session.prompts);
        let Some(token) = load(facts, &token).filter(|t| same && t.holds_or_failed(facts.id))
        else {
            return Reply::default();
        };
        if token.step == Step::Failed {
            failed = Some(token);
            break;
        }
        std::thread::sleep(GLANCE);
        waited += GLANCE;
    }
    failed.map_or_else(Reply::default, |token| go_on(facts, &token))
}

fn go_on(facts: &Facts, token: &Token) -> Reply {
    let why = token.why.as_deref().unwrap_or("no reason was given");
    let claim = facts.places.token(&token.id).with_extension("go-on");
    let answered_otherwise = [EDITED, LEFT, CLIENT_ENDED, SEALED_ANEW].contains(&why);
    if answered_otherwise || facts.attended() || !atomic::claim(&claim).unwrap_or(false) {
        return Reply::default();
    }
    log::write(&facts.places.log(), facts.now, "goes-on", &json!({"token": token.id, "why": why}));
    let values = [("why", why), ("path", token.sealed.as_str())];
    Reply { wake: Some(say(&facts.places, Text::GoOn, &values)), ..Reply::default() }
}

fn load(facts: &Facts, token: &Token) -> Option<Token> {
    boundary::load(&facts.places, &token.id).ok().flatten()
}

fn now(facts: &Facts) -> Option<Session> {
    state::load(&facts.places, facts.id).ok().flatten()
}
