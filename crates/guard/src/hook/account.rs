//! The account of one event: what was read and decided, and what was said of it, for
//! the session's journal. Below every tier, where nothing is said, nothing is written.

use super::event::{Event, Kind};
use super::facts::Facts;
use super::reply::{Agent, Reply};
use crate::files::journal::{self, Called, Line, Verdict, What};
use base::clock;

fn line(facts: &Facts, what: What) -> Line {
    let moment = facts.account.moment.borrow().clone().unwrap_or_default();
    Line {
        tier: moment.tier,
        cap: moment.cap,
        context: moment.readings.context,
        file: moment.readings.file,
        ..Line::new(facts.now, what)
    }
}

/// Something was done that the reply doesn't tell.
pub fn did(facts: &Facts, what: What) {
    journal::write(&facts.places, facts.id, &line(facts, what));
}

/// A shell's output was cut; the line that says so stays in the context.
pub fn cut(facts: &Facts, cut: journal::Cut, said: &str) {
    facts.account.told.set(true);
    let line = Line { said: said.to_owned(), ..line(facts, What::Cut(cut)) };
    journal::write(&facts.places, facts.id, &line);
}

/// A piece of what crosses goes out with the reply, at its end.
pub fn delivered(facts: &Facts, bytes: usize) {
    facts.account.delivered.set(bytes);
    did(facts, What::Delivered(bytes as u64));
}

/// The event is answered.
pub fn answered(facts: &Facts, event: &Event, reply: &Reply) {
    let called = facts.account.call.take();
    if let Some(wake) = &reply.wake {
        // It waited for what others do: its word comes later than its event.
        let line = Line { at: clock::now(), ..line(facts, What::Note("rewake".into())) };
        return journal::write(&facts.places, facts.id, &Line { said: wake.clone(), ..line });
    }
    if facts.account.told.get() || (called.is_none() && *reply == Reply::default()) {
        return;
    }
    let said = match &reply.agent {
        Some(
            Agent::Deny(text) | Agent::Close(text) | Agent::Block(text) | Agent::Note(_, text),
        ) => text.as_str(),
        Some(Agent::Allow(_, note)) => note.as_deref().unwrap_or_default(),
        Some(Agent::Output(_)) | None => "",
    };
    let said = said.get(..said.len().saturating_sub(facts.account.delivered.get())).unwrap_or(said);
    let told = reply.user.as_deref().unwrap_or_default();
    let what = match (called, &event.kind, &reply.agent) {
        (Some(called), ..) => What::Call(came_of(called, reply)),
        (_, Kind::Stop { .. }, Some(Agent::Block(_))) => What::Stop(Verdict::Deny),
        // Answered at the prompt: nothing of it stays in the conversation.
        (_, Kind::Expansion { .. }, _) => return,
        (_, _, Some(Agent::Note(event, _))) => What::Note((*event).to_owned()),
        _ => What::Note(event.kind.name().to_owned()),
    };
    let spoke = !said.is_empty() || !told.is_empty();
    if spoke || matches!(what, What::Call(_)) {
        say(facts, what, said, told);
    }
}

/// A call that was to be denied passes where the denial could not be kept.
fn came_of(called: Called, reply: &Reply) -> Called {
    let verdict = match (&reply.agent, called.verdict) {
        (Some(Agent::Deny(_)), _) => Verdict::Deny,
        (Some(Agent::Allow(..)), Verdict::Partial) => Verdict::Partial,
        (Some(Agent::Allow(..)), _) => Verdict::Allow,
        (_, Verdict::WouldDeny) => Verdict::WouldDeny,
        _ => Verdict::Pass,
    };
    Called { verdict, ..called }
}

fn say(facts: &Facts, what: What, said: &str, told: &str) {
    let line = Line { said: said.to_owned(), told: told.to_owned(), ..line(facts, what) };
    journal::write(&facts.places, facts.id, &line);
}
