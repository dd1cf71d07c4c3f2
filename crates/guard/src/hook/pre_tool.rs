//! `PreToolUse`: decides on one call.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::event::{Event, Kind, QUESTION_TOOL, ToolCall};
use super::facts::{Context, Facts, sealed};
use super::journal;
use super::messages::{Messages, NearMiss};
use super::reply::{Agent, Reply};
use super::target;
use super::wire::ToolInput;
use crate::files::shadows;
use crate::files::state;
use crate::policy::bands::{Band, band};
use crate::policy::coach::Told;
use crate::policy::command::{OwnCall, OwnCommand, printing};
use crate::policy::decide::{Call, Decided, Decision, Denial, Target, decide};
use crate::policy::ramp::Ramp;
use crate::policy::stance::{Cap, GRACE_CALLS, GRACE_PERCENT, Ranks, Readings, Stance};
use crate::policy::verbs;
use crate::session::{Counted, First, Grace, Session};
use sessions::gauge::Reading;
use sessions::gauge::WindowSource;

/// Handles the event.
pub fn handle(facts: &mut Facts, event: &Event, raw: &ToolCall) -> Reply {
    let input = ToolInput::parse(raw.input);
    let band = band_of(facts, raw.tool, &input);
    if event.subagent {
        handle_subagent(facts, event, raw, &input, band)
    } else {
        handle_main_loop(facts, event, raw, &input, band)
    }
}

/// Decides on a subagent's call, which no gauge limits.
fn handle_subagent(
    facts: &Facts,
    event: &Event,
    raw: &ToolCall,
    input: &ToolInput,
    band: Band,
) -> Reply {
    let (readings, ramp) = (Readings::default(), Ramp::default());
    let (target, not_own) = target::find_target(facts, event, raw, input, band, true);
    let (sealed, unanswerable) = Default::default();
    let call = Call { tool: raw.tool, band, subagent: true, target, not_own, sealed, unanswerable };
    let stance = facts.stance(&ramp, &readings);
    let messages = Messages::new(facts, &ramp, &readings, &stance);
    let decision = decide(&call, &stance, &ramp, 0, || false);
    let is_shadow = facts.settings.is_shadow();
    let decided = if is_shadow { Decided::in_shadow(decision, || None) } else { decision.into() };
    let reply = answer(facts, raw.id, &call, input, None, decided.made, &messages);
    journal::record_call(facts, raw.id, &call, &ramp, &stance, &decided, &reply);
    reply
}

/// Reads the gauges and saves what they say, then decides on a call of the main loop.
fn handle_main_loop(
    facts: &mut Facts,
    event: &Event,
    raw: &ToolCall,
    input: &ToolInput,
    band: Band,
) -> Reply {
    let context = facts.context(Some(raw.id), 0);
    let (file, counted) = facts.file().unzip();
    settle(facts, context, counted);
    let readings = facts.readings(context, file);
    let ramp = facts.ramp(context.map_or(u64::MAX, |c| c.reading.limit));
    let stance = facts.stance(&ramp, &readings);
    save_changes(facts, event, context, &stance, counted);

    let squeezed = stance.effective(&ramp) >= ramp.first_blocking();
    let (target, not_own) = target::find_target(facts, event, raw, input, band, squeezed);
    let call = Call {
        tool: raw.tool,
        band,
        subagent: false,
        target,
        not_own,
        sealed: sealed(facts, &readings),
        unanswerable: raw.tool == QUESTION_TOOL && !facts.attended(),
    };
    let known_file = || {
        let path = target::absolute(event, input.file_path.as_deref().unwrap_or_default());
        state::knows_file(&facts.places, facts.id, &path.to_string_lossy())
    };
    let lines = facts.settings.coach.reread_lines;
    let decide_at = |stance: &Stance| decide(&call, stance, &ramp, lines, known_file);
    let decide_without_shadow = || {
        let cap = facts.cap_behind_shadow(&readings);
        decide_at(&Stance { cap, ..stance.clone() })
    };
    let messages = Messages::new(facts, &ramp, &readings, &stance);
    let decision = decide_at(&stance);
    let decided = if facts.settings.is_shadow() {
        let is_capped = stance.cap == Some(Cap::Shadow);
        Decided::in_shadow(decision, || is_capped.then(decide_without_shadow))
    } else {
        decision.into()
    };
    let at = Some((&ramp, &stance));
    let reply = answer(facts, raw.id, &call, input, at, decided.made, &messages);
    journal::record_call(facts, raw.id, &call, &ramp, &stance, &decided, &reply);
    reply
}

/// The plugin's own skill, as the client names it.
const SKILL: &str = "brain-guard:brain-guard";

/// The band of a call. Our own skill starts no agent and only explains the notes, which the agent
/// needs when tools are blocked.
fn band_of(facts: &Facts, tool: &str, input: &ToolInput) -> Band {
    let is_own = || shadows::shadowing_file(&facts.places, SKILL).is_none();
    if tool == "Skill" && input.skill.as_deref() == Some(SKILL) && is_own() {
        return Band::Control;
    }
    band(tool, &facts.settings.bands)
}

/// Whether the hook would deny a main-loop call because the notes are sealed.
pub fn denied_after_seal(facts: &Facts, tool: &str, input: Option<&RawValue>) -> bool {
    let event = Event {
        session: facts.id,
        transcript: None,
        cwd: facts.session.cwd.as_deref(),
        subagent: false,
        mode: None,
        kind: Kind::SessionEnd,
    };
    let call = ToolCall { tool, input, id: "", took: None, error: None };
    let parsed = ToolInput::parse(input);
    let band = band_of(facts, tool, &parsed);
    band != Band::Control
        && sealed(facts, &Readings::default())
        && target::find_target(facts, &event, &call, &parsed, band, true).0 == Target::Other
}

/// Starts an unknown session. Sets the base or a grace period from the first reading.
pub fn settle(facts: &mut Facts, context: Option<Context>, counted: Option<Counted>) {
    if facts.unseen {
        facts.session = super::session::begin(facts, First::Grace);
        facts.unseen = false;
    }
    // A window assumed without a model proves nothing. The next response names the model.
    let known = |c: &Context| c.window.source != WindowSource::Assumed || c.model_named;
    let Some(context) = context.filter(|c| facts.session.first != First::Done && known(c)) else {
        return;
    };
    let reading = context.reading;
    let own = (facts.session.first_bytes as f64 / sessions::fill::BYTES_PER_TOKEN) as u64;
    // Rows are written late, so the first reading may already include the second response.
    let began = context.before.filter(|_| facts.session.first == First::Base);
    let used = began.map_or(reading.used, |before| before.min(reading.used));
    let base = used.saturating_sub(own);
    let calls = state::calls(&facts.places, facts.id);
    let (settings, first) = (facts.settings.ramp(reading.limit), facts.session.first);
    facts.update(|s| {
        if s.first == First::Done {
            return;
        }
        if first == First::Base {
            s.base_tokens = base;
        }
        let ramp = settings.shifted(s.base_percent(reading.limit));
        let at_first = Reading { used, ..reading }.percent();
        if ramp.context_rank(at_first, 0) >= ramp.first_blocking() {
            let percent = reading.percent() + GRACE_PERCENT;
            s.grace = Some(Grace { percent, calls: calls + GRACE_CALLS });
        }
        s.first = First::Done;
        s.notes.counted = counted.or(s.notes.counted);
    });
}

/// Saves what changed, if anything did.
fn save_changes(
    facts: &Facts,
    event: &Event,
    context: Option<Context>,
    stance: &Stance,
    counted: Option<Counted>,
) {
    let ranks = Ranks { context: stance.context_rank, file: stance.file_rank };
    let s = &facts.session;
    if stance.rank > 0 || s.override_.is_some() {
        // A lost count only delays a note.
        let _ = state::count_call(&facts.places, facts.id);
    }
    // The module names no mode for a call of its own tools.
    let mode = facts.mode.clone();
    let reported = context.and_then(|c| c.reported);
    let limit = context.and_then(|c| c.reported_limit);
    let moved = s.transcript.as_deref() != event.transcript
        || s.mode != mode
        || (event.cwd.is_some() && s.cwd.as_deref() != event.cwd)
        || (reported.is_some() && s.limits.reported_window != reported)
        || (limit.is_some() && s.limits.reported_limit != limit)
        // A window seen in use stays valid: a compaction does not shrink it.
        || context.is_some_and(|c| {
            c.window.source == WindowSource::Observed && s.limits.window != Some(c.window)
        });
    if s.ranks == ranks && !moved && (counted.is_none() || counted == s.notes.counted) {
        return;
    }
    let result = state::update(&facts.places, facts.id, |s| {
        s.ranks = ranks;
        s.notes.counted = counted.or(s.notes.counted);
        s.transcript = event.transcript.map(str::to_owned).or(s.transcript.take());
        s.cwd = event.cwd.map(str::to_owned).or(s.cwd.take());
        s.mode = mode;
        s.limits.reported_window = reported.or(s.limits.reported_window);
        s.limits.reported_limit = limit.or(s.limits.reported_limit);
        if let Some(context) = context {
            s.reading = Some(context.reading);
            s.limits.window = Some(context.window);
        }
        // The agent is told again when it re-enters a tier.
        if stance.rank < s.notified.agent.rank {
            s.notified.agent = Told { rank: stance.rank, ..s.notified.agent };
        }
    });
    if let Err(e) = result {
        facts.fault("state not kept", &e);
    }
}

fn answer(
    facts: &Facts,
    id: &str,
    call: &Call,
    input: &ToolInput,
    at: Option<(&Ramp, &Stance)>,
    decision: Decision,
    messages: &Messages,
) -> Reply {
    match decision {
        Decision::Pass => Reply::default(),
        Decision::Allow => {
            if call.target == Target::CompactionFile && call.tool != "Read" {
                facts.make_file();
            }
            Reply { agent: Some(Agent::Allow(None, None)), ..Reply::default() }
        }
        Decision::Execute => {
            let Target::Own(own) = &call.target else { return Reply::default() };
            let command = execute(facts, id, own);
            let input = json!({ "command": command });
            Reply { agent: Some(Agent::Allow(Some(input), None)), ..Reply::default() }
        }
        Decision::PartialRead(lines) => {
            if input.limit.is_some_and(|l| l <= lines) {
                return Reply::default();
            }
            let mut value = json!({ "file_path": input.file_path, "limit": lines });
            if let Some(offset) = input.offset {
                value["offset"] = Value::from(offset);
            }
            Reply {
                agent: Some(Agent::Allow(Some(value), Some(messages.reread()))),
                ..Reply::default()
            }
        }
        Decision::Deny(denial) => deny(facts, call, input, at, denial, messages),
    }
}

/// Executes the agent's verbs, and returns the command that prints what they answered.
fn execute(facts: &Facts, id: &str, own: &OwnCommand) -> String {
    let answers =
        facts.program.map(|program| (program.run_verbs)(facts, id, own)).unwrap_or_default();
    let texts: Vec<&str> = answers.iter().map(|answer| answer.text.trim_end()).collect();
    let text = texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    let succeeded = answers.last().is_none_or(|answer| answer.succeeded);
    printing(own.folder.as_deref(), &text, succeeded)
}

/// Why a command that names one of the agent's verbs was not accepted as one.
fn near_miss(call: &Call, input: &ToolInput) -> Option<NearMiss> {
    let reason = call.not_own.clone().filter(|_| call.band == Band::Shell)?;
    let mut after = input.command.as_deref()?.split("brain-guard").skip(1);
    let verb = after.find_map(|rest| {
        let word = rest.split_whitespace().next().filter(|_| rest.starts_with(' '))?;
        verbs::AGENT_VERBS.into_iter().find(|verb| *verb == word)
    })?;
    Some(NearMiss { verb, reason })
}

fn deny(
    facts: &Facts,
    call: &Call,
    input: &ToolInput,
    at: Option<(&Ramp, &Stance)>,
    denial: Denial,
    messages: &Messages,
) -> Reply {
    let tier = at.filter(|_| denial == Denial::Tier);
    if tier.is_some() {
        facts.make_file();
    }
    // `facts` stays as it was, because the text says what is new since then.
    let kept = state::update(&facts.places, facts.id, |s| {
        s.denied = Some(facts.now);
        tier.map(|(_, stance)| note_tier_denial(s, stance, messages))
    });
    let told = match kept {
        Ok(told) => told,
        Err(e) => {
            facts.fault("denial not kept", &e);
            if matches!(denial, Denial::Tier | Denial::Sealed | Denial::Unanswerable) {
                // On a full disk neither notes nor seals can be saved, so there is no way out.
                return Reply::default();
            }
            None
        }
    };
    let reason = match denial {
        Denial::Operator => messages.deny_operator(),
        Denial::MainLoopOnly => match &call.target {
            Target::Own(own) => {
                let verbs: Vec<&str> = own.calls.iter().map(OwnCall::verb).collect();
                messages.deny_main_loop(&verbs.join(", "))
            }
            _ => messages.deny_main_loop("this"),
        },
        Denial::Sealed => messages.deny_sealed(),
        Denial::Unanswerable => messages.deny_question(),
        Denial::Tier => {
            let (Some((ramp, stance)), Some(told)) = (tier, told) else { return Reply::default() };
            let note = if told.first {
                messages.jumped(ramp, stance) + &messages.second_way_out()
            } else {
                String::new()
            };
            messages.deny_tier(call.tool, &note, told.again)
        }
    };
    let is_blocked = matches!(denial, Denial::Tier | Denial::Sealed);
    let miss = is_blocked.then(|| near_miss(call, input)).flatten();
    let reason = miss.map_or(reason, |miss| messages.deny_near_miss(&miss));
    Reply { agent: Some(Agent::Deny(reason)), ..Reply::default() }
}

/// What a denial by tier still has to tell.
struct TierDenial {
    /// The agent was not told of this tier yet.
    first: bool,
    /// The denial before was by the same tier.
    again: bool,
}

/// Notes in the state that the tier denied a call. Of many parallel denials, only one is the first.
fn note_tier_denial(s: &mut Session, stance: &Stance, messages: &Messages) -> TierDenial {
    let first = s.notified.agent.rank < stance.rank;
    if first {
        s.notified.agent = messages.note_state(stance);
    }
    let again = s.notified.denial.replace(stance.rank) == Some(stance.rank);
    // The client shows the denial to the user.
    messages.claim_user(s);
    TierDenial { first, again }
}
