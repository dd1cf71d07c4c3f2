//! What is said of surgery unasked: the agent's question above the prompt box, and once that this
//! session can be shortened.

use super::{asked_by_agent, open, saving};
use crate::cmd::{advise, import};
use base::shown;
use guard::hook::facts::Facts;

/// What the status strip asks the user, if the agent proposed something.
pub fn question(facts: &Facts) -> Option<String> {
    let asked = asked_by_agent(facts)?;
    let saving = asked.tokens.map(saving).unwrap_or_default();
    Some(format!("The agent asks: {} ({saving}). /brain-guard:slim yes or no", asked.effect))
}

/// The share of the tier `narrow` at which the user is told how to shorten the session.
const OFFERED_AT: f64 = 0.75;

/// Tells the user once that surgery could shorten this session, unless they are about to leave it. A
/// figure needs the session in the store, which is not made for it.
pub fn offer(facts: &mut Facts) -> Option<String> {
    if facts.session.notified.slim_tokens.is_some()
        || facts.settings.is_shadow()
        || !facts.seen.interactive
    {
        return None;
    }
    let is_sealed = facts.token().is_some_and(|token| token.awaits_carrier_or_held(facts.id));
    if is_sealed || open(facts).is_some() {
        return None;
    }
    let view = facts.view();
    let narrow = view.ramp.tiers().last()?.context;
    let percent = view.readings.context?.percent();
    if percent < narrow * OFFERED_AT {
        return None;
    }
    let root = import::root(facts.env).ok()?;
    let is_stored = root.find_exact(facts.id).is_ok_and(|found| !found.is_empty());
    let report =
        is_stored.then(|| advise::Report::of(facts.env, facts.now, Some(facts.id)).ok()).flatten();
    let (tokens, frees) = match &report {
        Some(report) => {
            let (advice, _) = report.compression()?;
            let case = advice.case.words();
            (advice.frees, format!("would free {} tokens ({case})", shown::tokens(advice.frees)))
        }
        None => (0, "shows what could leave this session".to_owned()),
    };
    facts.update(|session| session.notified.slim_tokens = Some(tokens));
    Some(format!("the context is {percent:.0} % full. /brain-guard:slim {frees}"))
}
