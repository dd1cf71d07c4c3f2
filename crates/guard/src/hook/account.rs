//! Writes the session's journal: what an event read, decided and told. Writes nothing if no tier is
//! reached and nothing is said.

use super::event::{Event, Kind};
use super::facts::Facts;
use super::reply::{Agent, Reply};
use crate::files::journal::{self, Called, Line, Verdict, What};
use crate::policy::bands::Band;
use crate::policy::decide::{Call, Decided, Decision, Denial};
use crate::policy::ramp::Ramp;
use crate::policy::stance::Stance;
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

/// Records an action that the reply does not mention.
pub fn record_action(facts: &Facts, what: What) {
    journal::write(&facts.places, facts.id, &line(facts, what));
}

/// Records a cut of shell output. The line that says so stays in the context.
pub fn cut(facts: &Facts, cut: journal::Cut, said: &str) {
    facts.account.told.set(true);
    let line = Line { said: said.to_owned(), ..line(facts, What::Cut(cut)) };
    journal::write(&facts.places, facts.id, &line);
}

/// Records a delivered piece. It forms the end of the reply.
pub fn record_delivery(facts: &Facts, bytes: usize) {
    facts.account.delivered.set(bytes);
    record_action(facts, What::Delivered(bytes as u64));
}

/// Records the decision on a call and what came of it, if that is worth a line.
pub fn record_call(
    facts: &Facts,
    id: &str,
    call: &Call,
    ramp: &Ramp,
    stance: &Stance,
    decided: &Decided,
    reply: &Reply,
) {
    let Decided { made, would } = decided;
    let passed = *made == Decision::Pass && would.is_none();
    if passed && (call.subagent || stance.rank == 0) {
        return;
    }
    let denied = match made {
        Decision::Deny(denial) => Some(*denial),
        _ => *would,
    };
    // A denial that could not be saved lets the call pass.
    let verdict = match &reply.agent {
        Some(Agent::Deny(_)) => Verdict::Deny,
        Some(Agent::Allow(..)) if matches!(made, Decision::PartialRead(_)) => Verdict::Partial,
        Some(Agent::Allow(..)) => Verdict::Allow,
        _ if would.is_some() => Verdict::WouldDeny,
        _ => Verdict::Pass,
    };
    let is_by_tier = denied == Some(Denial::Tier);
    facts.account.call(Called {
        id: id.to_owned(),
        tool: call.tool.to_owned(),
        band: call.band.name().to_owned(),
        subagent: call.subagent,
        verdict,
        why: denied.map(|denial| denial.name().to_owned()),
        not_own: call.not_own.clone().filter(|_| denied.is_some()),
        passes: if is_by_tier { passes(call, ramp, stance) } else { Vec::new() },
    });
}

/// Where a call would pass that its tier blocks.
fn passes(call: &Call, ramp: &Ramp, stance: &Stance) -> Vec<String> {
    let first = ramp.tiers().iter().find(|tier| tier.blocks.contains(&call.band));
    let below = first.map(|tier| {
        format!(
            "the same call below the tier {} ({:.1} % of the context, {:.1} % of the file)",
            tier.name, tier.context, tier.file
        )
    });
    let is_read = call.tool == "Read"
        && ramp.tier(stance.rank).is_some_and(|tier| !tier.blocks.contains(&Band::Write));
    let again = is_read.then(|| "Read of a file that this session has read or edited".to_owned());
    below.into_iter().chain(again).collect()
}

/// Records the reply to an event.
pub fn record_reply(facts: &Facts, event: &Event, reply: &Reply) {
    let called = facts.account.call.take();
    if let Some(wake) = &reply.wake {
        // This hook waited for others, so it speaks later than its event.
        let line = Line { at: clock::now(), ..line(facts, What::Note("rewake".into())) };
        return journal::write(&facts.places, facts.id, &Line { said: wake.clone(), ..line });
    }
    if facts.account.told.get() || (called.is_none() && *reply == Reply::default()) {
        return;
    }
    let said = match &reply.agent {
        Some(
            Agent::Deny(text)
            | Agent::Close(text)
            | Agent::Block(text)
            | Agent::GoOn(text)
            | Agent::Note(_, text),
        ) => text.as_str(),
        Some(Agent::Allow(_, note)) => note.as_deref().unwrap_or_default(),
        Some(Agent::Output(_)) | None => "",
    };
    let said = said.get(..said.len().saturating_sub(facts.account.delivered.get())).unwrap_or(said);
    let told = reply.user.as_deref().unwrap_or_default();
    let what = match (called, &event.kind, &reply.agent) {
        (Some(called), ..) => What::Call(called),
        (_, Kind::Stop { .. }, Some(Agent::GoOn(_))) => What::Stop(Verdict::Deny),
        // The answer at the prompt does not enter the conversation.
        (_, Kind::Expansion { .. }, _) => return,
        (_, _, Some(Agent::Note(event, _))) => What::Note((*event).to_owned()),
        _ => What::Note(event.kind.name().to_owned()),
    };
    let spoke = !said.is_empty() || !told.is_empty();
    if spoke || matches!(what, What::Call(_)) {
        say(facts, what, said, told);
    }
}

fn say(facts: &Facts, what: What, said: &str, told: &str) {
    let line = Line { said: said.to_owned(), told: told.to_owned(), ..line(facts, what) };
    journal::write(&facts.places, facts.id, &line);
}
