//! `Stop`: a turn's end, the only place where a boundary may start.

use super::event::Event;
use super::facts::Facts;
use super::messages::Messages;
use super::pre_tool::settle;
use super::reply::Reply;
use super::unsealed::{hand_over, without_the_agent};
use super::{boundary_flow, jobs, limits, withdrawal};
use crate::boundary::{EndReason, Token};
use crate::files::{sealing, state};
use crate::journal::What;
use crate::policy::stance::{Cap, Ranks, Stance};

/// How many turn ends are refused before the guard acts without the agent.
const REFUSALS: u32 = 2;

/// Handles the event.
pub fn handle(facts: &mut Facts, event: &Event, agents: u32, shells: &[&str]) -> Reply {
    if event.subagent || facts.unseen {
        return Reply::default();
    }
    boundary_flow::tidy(facts);
    jobs::follow_name(facts);
    let withdrawn = facts
        .token()
        .and_then(|token| withdrawal::reason(facts, &token, withdrawal::ClientCount::default()))
        .and_then(|why| withdrawal::withdraw(facts, &why));
    let mut reply = turn_end(facts, agents, shells);
    if let Some(line) = withdrawn {
        reply.add_line(line);
    }
    if !reply.refuses_end() {
        let now = facts.now;
        facts.update(|s| {
            if s.turn.take().is_some() {
                s.over = Some(now);
            }
        });
    }
    reply
}

/// `StopFailure`: an API error ended the turn. Performs a waiting boundary, or seals once nobody is
/// there. Refuses no turn end, because the agent would not hear of it.
pub fn failed(facts: &mut Facts, event: &Event) -> Reply {
    if event.subagent || facts.unseen {
        return Reply::default();
    }
    // `tidy` is not called: an error is not an answer to what was delivered.
    let reply = if facts
        .token()
        .is_some_and(|t| t.awaits_carrier_or_held(facts.id) && !broken(facts, &t))
    {
        hand_over(facts)
    } else {
        let view = facts.view();
        if view.is_at_top() && !facts.settings.is_shadow() {
            keep_ranks(facts, &view.stance);
            without_the_agent(facts)
        } else {
            Reply::default()
        }
    };
    let now = facts.now;
    facts.update(|s| (s.turn, s.over, s.broke) = (None, Some(now), Some(now)));
    Reply { user: reply.user, ..Reply::default() }
}

fn turn_end(facts: &mut Facts, agents: u32, shells: &[&str]) -> Reply {
    if facts.session.background.agents != agents || facts.session.background.shells != shells {
        let shells: Vec<String> = shells.iter().map(|s| (*s).to_owned()).collect();
        facts.update(|s| (s.background.agents, s.background.shells) = (agents, shells.clone()));
    }
    match facts.token() {
        Some(token) if token.awaits_carrier_or_held(facts.id) => {
            if broken(facts, &token) {
                unsealed(facts, true)
            } else {
                hand_over(facts)
            }
        }
        _ => unsealed(facts, false),
    }
}

/// Remembers the tiers for a boundary: the turn's last response may have been the first to reach
/// them.
fn keep_ranks(facts: &mut Facts, stance: &Stance) {
    let ranks = Ranks { context: stance.context_rank, file: stance.file_rank };
    if ranks != facts.session.ranks {
        facts.update(|s| s.ranks = ranks);
    }
}

/// Whether the file was edited after the token's seal. Such a token fails here, and the file counts
/// as not sealed.
fn broken(facts: &Facts, token: &Token) -> bool {
    if token.stands(sealing::fresh_version(&facts.places, &token.job, &facts.settings)) {
        return false;
    }
    facts.change_token(&token.id, |t| t.fail(EndReason::Edited, facts.now));
    true
}

/// Handles a turn end without a valid seal. Refuses it at the highest tier, and wherever an edit
/// broke a seal, since the agent was told to end its turn.
fn unsealed(facts: &mut Facts, broke: bool) -> Reply {
    let context = facts.context(None, 0);
    let file = facts.file();
    settle(facts, context, file.map(|f| f.1));
    let readings = facts.readings(context, file.map(|f| f.0));
    let ramp = facts.ramp(context.map_or(u64::MAX, |c| c.reading.limit));
    let stance = facts.stance(&ramp, &readings);
    keep_ranks(facts, &stance);
    let top = |rank: usize| rank >= ramp.top() && ramp.first_blocking() <= ramp.top();
    if facts.settings.is_shadow() {
        let shadow =
            stance.cap == Some(Cap::Shadow) && facts.cap_behind_shadow(&readings).is_none();
        if broke || (shadow && top(stance.rank)) {
            facts.record(What::WouldStop);
        }
        return Reply::default();
    }
    if !top(stance.effective(&ramp)) && !broke {
        return Reply { user: limits::uncounted(facts, context.as_ref()), ..Reply::default() };
    }
    if facts.not_writable().is_some() {
        // Neither the agent nor the guard can seal, so the turn may end.
        return Reply::default();
    }
    if facts.session.stop_blocks < REFUSALS {
        // An uncounted refusal would repeat forever.
        if let Err(e) = state::update(&facts.places, facts.id, |s| s.stop_blocks += 1) {
            facts.fault("state not kept, so the turn may end", &e);
            return Reply::default();
        }
        let again = facts.session.stop_blocks > 0;
        let messages = Messages::new(facts, &ramp, &readings, &stance);
        return Reply::go_on(messages.stop_unsealed(again));
    }
    without_the_agent(facts)
}
