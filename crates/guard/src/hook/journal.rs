//! Writes the session's journal: what an event read, decided and told. Writes nothing if no tier is
//! reached and nothing is said.

use super::event::{Event, Kind};
use super::facts::Facts;
use super::reply::{Agent, Reply};
use crate::journal::{self, Cut, Line, What};
use crate::policy::bands::Band;
use crate::policy::decide::{Call, Decided, Decision, Denial};
use crate::policy::ramp::Ramp;
use crate::policy::stance::Stance;
use base::clock;

/// Records a cut of shell output. The line that says so stays in the context.
pub fn cut(facts: &Facts, cut: Cut, said: &str) {
    facts.entry.told.set(true);
    let line = Line { to_agent: said.to_owned(), ..facts.entry.line(facts.now, What::Cut(cut)) };
    facts.append(&line);
}

/// Records a delivered piece. It forms the end of the reply.
pub fn record_delivery(facts: &Facts, bytes: usize) {
    facts.entry.delivered.set(bytes);
    facts.record(What::Delivered { bytes: bytes as u64 });
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
        Decision::Pass | Decision::Allow | Decision::Execute | Decision::PartialRead(_) => *would,
    };
    let is_by_tier = denied == Some(Denial::Tier);
    let decided = journal::Call {
        id: id.to_owned(),
        tool: call.tool.to_owned(),
        band: call.band.name().to_owned(),
        subagent: call.subagent,
        why: denied,
        not_own: call.not_own.clone().filter(|_| denied.is_some()),
        passes: if is_by_tier { passes(call, ramp, stance) } else { Vec::new() },
    };
    // A denial that could not be saved lets the call pass.
    let decided = match (made, &reply.agent) {
        (_, Some(Agent::Deny(_))) => What::Deny(decided),
        (Decision::PartialRead(_), Some(_)) => What::Partial(decided),
        (Decision::Allow | Decision::Execute, Some(_)) => What::Allow(decided),
        (Decision::Pass, _) if would.is_some() => What::WouldDeny(decided),
        (
            Decision::Pass
            | Decision::Allow
            | Decision::Execute
            | Decision::PartialRead(_)
            | Decision::Deny(_),
            _,
        ) => What::Pass(decided),
    };
    facts.entry.decided.replace(Some(decided));
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
    let decided = facts.entry.decided.take();
    if let Some(wake) = &reply.wake {
        // This hook waited for others, so it speaks later than its event.
        let line = facts.entry.line(clock::now(), What::Note { event: "rewake".into() });
        return facts.append(&Line { to_agent: wake.clone(), ..line });
    }
    if facts.entry.told.get() || (decided.is_none() && *reply == Reply::default()) {
        return;
    }
    let said = match &reply.agent {
        Some(
            Agent::Deny(text)
            | Agent::Close(text)
            | Agent::Block(text)
            | Agent::DropPrompt(text)
            | Agent::GoOn(text)
            | Agent::Note(_, text),
        ) => text.as_str(),
        Some(Agent::Allow(_, note)) => note.as_deref().unwrap_or_default(),
        Some(Agent::Output(_)) | None => "",
    };
    let said = said.get(..said.len().saturating_sub(facts.entry.delivered.get())).unwrap_or(said);
    let told = reply.user.as_deref().unwrap_or_default();
    let is_decided = decided.is_some();
    let what = match (decided, &event.kind, &reply.agent) {
        (Some(decided), ..) => decided,
        (_, Kind::Stop { .. }, Some(Agent::GoOn(_))) => What::Stop,
        // The answer at the prompt does not enter the conversation.
        (_, Kind::Expansion { .. }, _) => return,
        (_, _, Some(Agent::Note(event, _))) => What::Note { event: (*event).to_owned() },
        _ => What::Note { event: event.kind.name().to_owned() },
    };
    if is_decided || !said.is_empty() || !told.is_empty() {
        say(facts, what, said, told);
    }
}

fn say(facts: &Facts, what: What, said: &str, told: &str) {
    let line = facts.entry.line(facts.now, what);
    let line = Line { to_agent: said.to_owned(), to_user: told.to_owned(), ..line };
    facts.append(&line);
}
