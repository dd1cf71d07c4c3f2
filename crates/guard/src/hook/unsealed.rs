//! Handles a turn that ends at the highest tier without a seal.

use std::ops::ControlFlow;
use std::time::Duration;

use super::facts::Facts;
use super::opening::Opening;
use super::reply::Reply;
use super::{boundary_flow, deliver, watch};
use crate::boundary::{Carrier, Hold, Step, Token};
use crate::files::{boundary, shadows};
use crate::texts::{Text, render};
use base::lock;
use base::shown::remaining;

/// How long another process may take to seal.
const SEALING: Duration = Duration::from_secs(10);

/// Handles an agent that did not seal. If a person is there, waits for them. Otherwise seals the
/// notes as they are and opens a boundary, or lifts the blocks.
pub fn without_the_agent(facts: &mut Facts) -> Reply {
    if facts.attended() {
        return wait_for_person(facts);
    }
    match boundary_flow::seal_for_the_agent(facts) {
        Ok(()) => hand_over(facts),
        Err(why) => Reply::go_on(go_on(facts, &why)),
    }
}

/// Lifts the blocks, because no boundary could be opened. Returns the text for the agent.
fn go_on(facts: &mut Facts, why: &str) -> String {
    boundary_flow::give_up(facts, why);
    facts.update(|s| s.stop_blocks = 0);
    let path = facts.places.compaction(&facts.session.job).display().to_string();
    render(&facts.places, Text::GoOn, &[("why", why), ("path", &path)])
}

/// Tells the person what the session waits for. The `--rewake` process of this turn's end acts once
/// they count as gone.
fn wait_for_person(facts: &mut Facts) -> Reply {
    let Some(gone_at) = facts.gone_at() else { return Reply::default() };
    if facts.token().is_some_and(|t| t.waits_for_person(facts.id)) {
        return Reply::default();
    }
    let opening = Opening::of_seal(&facts.places, &facts.session.job, 0, None, true);
    let carrier = facts.carrier().chosen.unwrap_or(Carrier::Manual);
    let token = Token { step: Step::Unsealed, ..opening.token(facts, carrier) };
    if let Err(e) = boundary::create(&facts.places, &token) {
        facts.fault("token not written, so nobody waits", &e);
        return Reply::default();
    }
    facts.update(|s| s.token = Some(token.id.clone()));
    let effect = if boundary_flow::wrote_notes(facts) {
        "the notes are sealed as they are, this session is cleared, and a fresh one continues"
    } else {
        // A clear would lose all that the session knows.
        "the blocks are lifted and the agent goes on, because no new notes were written"
    };
    let time = remaining(gone_at - facts.now);
    let values = [("time", &*time), ("effect", effect)];
    let text = render(&facts.places, Text::UserUnsealed, &values);
    Reply { user: Some(text), ..Reply::default() }
}

/// Seals after the person left. Continues with the boundary that replaces the waiting one, or
/// breaks with the reply that ends this hook.
pub fn person_left(facts: &mut Facts, token: &Token) -> ControlFlow<Reply, Token> {
    // Refused ends of one turn may have left several processes that watch.
    let sealing = facts.places.token(&token.id).with_extension("sealing");
    let Ok(_held) = lock::acquire(&sealing, SEALING) else {
        return ControlFlow::Break(Reply::default());
    };
    let still = |t: &mut Token| t.waits_for_person(facts.id);
    if facts.change_token(&token.id, still) != Some(true) {
        return ControlFlow::Break(Reply::default());
    }
    let sealed = boundary_flow::seal_for_the_agent(facts);
    if sealed.is_err() && !boundary::claim_failure(&facts.places, token) {
        return ControlFlow::Break(Reply::default());
    }
    let wake = sealed.as_ref().err().map(|why| go_on(facts, why));
    if sealed.is_ok() {
        hand_over(facts);
    }
    // After a seal, the new boundary has already ended this one.
    let why = sealed.err().unwrap_or_default();
    facts.change_token(&token.id, |t| t.fail(why.as_str(), facts.now));
    match facts.token() {
        Some(opened) if wake.is_none() => {
            facts.change_token(&opened.id, |t| t.at_once = token.at_once);
            ControlFlow::Continue(opened)
        }
        _ => ControlFlow::Break(Reply { wake, ..Reply::default() }),
    }
}

/// Ends the wait, because the person submitted a prompt.
pub fn prompted(facts: &mut Facts, token: &Token) {
    let ended = facts.change_token(&token.id, |t| {
        t.waits_for_person(facts.id) && t.withdraw("a prompt came", facts.now)
    });
    if ended == Some(true) {
        facts.update(|s| s.token = None);
    }
}

/// Hands a waiting boundary to its carrier and starts the process that watches it.
pub(super) fn hand_over(facts: &mut Facts) -> Reply {
    let Some(token) = facts.token() else { return Reply::default() };
    // The pane or window may have changed since.
    facts.look_around();
    let chosen = facts.carrier_after(&token.tried).chosen.unwrap_or(token.carrier);
    facts.change_token(&token.id, |t| {
        t.hold = t.hold.filter(|hold| *hold == Hold::Escape);
        if t.step == Step::Pending {
            (t.carrier, t.since) = (chosen, facts.now);
        }
    });
    Reply { user: watch_over(facts, &Token { carrier: chosen, ..token }), ..Reply::default() }
}

/// Starts the process that watches a boundary. Returns the notice for the user.
pub(super) fn watch_over(facts: &Facts, token: &Token) -> Option<String> {
    if let Err(e) = watch::start(facts.env, &facts.places, &token.id) {
        facts.fault("waiter not started", &e);
    }
    notice(facts, token)
}

/// The notice for a person at the terminal. The plugin module shows its own in the status strip.
fn notice(facts: &Facts, token: &Token) -> Option<String> {
    let seconds = facts.settings.boundary.attended_notice_seconds;
    let text = match token.carrier {
        Carrier::Mod => return None,
        Carrier::Manual => Text::UserTypeClear,
        _ if facts.attended() && seconds > 0 => Text::UserNotice,
        _ => return None,
    };
    let early = token.not_before.map_or(0, |until| (until - facts.now).num_seconds().max(0));
    let seconds = seconds.max(early.unsigned_abs()).to_string();
    let (what, restart) = (token.what(), token.restart());
    let clear = shadows::free_name(&facts.places, &shadows::CLEAR).unwrap_or(shadows::CLEAR[0]);
    let values =
        [("what", &*what), ("restart", &*restart), ("seconds", &*seconds), ("clear", clear)];
    Some(deliver::boundary_text(facts, token, text, &values))
}
