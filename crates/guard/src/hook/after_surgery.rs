//! The start of a session that the client went on in by a succession: it continues the one before.

use chrono::TimeDelta;

use super::event::Event;
use super::facts::Facts;
use super::job_assignment;
use crate::files::{state, succession};
use crate::policy::coach::Told;
use crate::policy::stance::Ranks;
use crate::session::{First, Notified, Override, Session, SurgeryLinks};
use crate::succession::{Step, Work};

/// Continues the session `from`, in which this client was before, if a succession led here. The
/// guard's state comes along: the job, the limit, the override. What was measured there does not,
/// because the context is another one.
pub fn follow(facts: &mut Facts, event: &Event, from: &str) -> bool {
    let Ok(Some(succession)) = succession::load(&facts.places, from) else { return false };
    if !succession.leads_to(facts.id) {
        return false;
    }
    let Ok(Some(before)) = state::load(&facts.places, from) else { return false };
    let calls = state::calls(&facts.places, from);
    let (parent, made_of) = match succession.work {
        Work::Make(_) => (Some(from.to_owned()), Some(from.to_owned())),
        // Back in a session that was there before: what it came from stays.
        Work::Enter(_) => (facts.session.parent.clone(), facts.session.surgery.made_of.clone()),
    };
    let next = Session {
        parent,
        surgery: SurgeryLinks { made_of, made_outside: None, entered_from: Some(from.to_owned()) },
        client: facts.env.client_pid().and_then(state::client).or(before.client),
        transcript: event.transcript.map(str::to_owned),
        started: facts.session.started.or(Some(facts.now)),
        ended: None,
        turn: None,
        uncached: None,
        asked: false,
        token: None,
        first: First::Done,
        grace: None,
        ranks: Ranks::default(),
        notified: Notified {
            agent: Told::default(),
            user: None,
            slim_tokens: facts.session.notified.slim_tokens,
            uncached: facts.session.notified.uncached,
            denial: None,
            ..before.notified
        },
        denied: None,
        reading: None,
        lifted: None,
        override_: before.override_.map(|kept| match kept {
            Override::Calls(end) => {
                let left = end.saturating_sub(calls);
                Override::Calls(state::calls(&facts.places, facts.id) + left)
            }
            other => other,
        }),
        ..before
    };
    facts.update(|session| *session = next.clone());
    facts.unseen = false;
    if let Some(client) = facts.session.client
        && let Err(e) = state::take_seat(&facts.places, client, facts.id)
    {
        facts.fault("seat not taken", &e);
    }
    job_assignment::link(facts, from, None);
    if !facts.seen.mod_alive
        && let Err(e) =
            succession::update(&facts.places, from, |s| s.advance(Step::Done, facts.now))
    {
        // The module reports it, and without one nobody else does.
        facts.fault("succession not moved", &e);
    }
    true
}

/// Whether the client was just told to go on in a successor of this session.
pub fn is_resuming(facts: &Facts) -> bool {
    let open = succession::load(&facts.places, facts.id).ok().flatten();
    open.is_some_and(|open| open.step == Step::Resuming)
}

/// Whether the module may just ask this session to go on after surgery.
pub fn asks_to_go_on(facts: &Facts) -> bool {
    let from = facts.session.surgery.entered_from.as_deref();
    let last = from.and_then(|id| succession::load(&facts.places, id).ok().flatten());
    last.is_some_and(|last| {
        last.goes_on
            && last.to.as_deref() == Some(facts.id)
            && facts.now - last.since < TimeDelta::minutes(1)
    })
}
