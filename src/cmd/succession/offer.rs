//! What is said of surgery and extraction unasked: the agent's question above the prompt box, and
//! once that this session can be shortened.

use super::{asked_by_agent, open};
use crate::cmd::extract::{run, source};
use crate::cmd::surgery::view;
use crate::cmd::{advise, import};
use base::shown::tokens;
use guard::hook::facts::Facts;
use sessions::operation::Extraction;

/// What the status strip asks the user, if the agent proposed something.
pub fn question(facts: &Facts) -> Option<String> {
    let asked = asked_by_agent(facts)?;
    let saving = asked.cost.map(|cost| view::cost(&cost)).unwrap_or_default();
    Some(format!("The agent asks: {} ({saving}). /brain-guard:slim yes or no", asked.effect))
}

/// The share of the tier `narrow` at which the user is told how to shorten the session.
const OFFERED_AT: f64 = 0.75;

/// Tokens without a prompt cache from which the user of a resumed session is told what it costs.
const UNCACHED: u64 = 50_000;

/// Percent of the context that an extraction must take out for that.
const SAVES: u64 = 20;

/// Tells the user that this session could be shortened, once for each reason, unless they are about to
/// leave it.
pub fn offer(facts: &mut Facts) -> Option<String> {
    if facts.settings.is_shadow() || !facts.seen.interactive {
        return None;
    }
    let is_sealed = facts.token().is_some_and(|token| token.awaits_carrier_or_held(facts.id));
    if is_sealed || open(facts).is_some() {
        return None;
    }
    uncached(facts).or_else(|| nearly_full(facts))
}

/// That a resumed session is read without the prompt cache, and what an extraction would leave.
fn uncached(facts: &mut Facts) -> Option<String> {
    let is_told = facts.session.notified.uncached;
    let read = facts.session.uncached.filter(|read| !is_told && *read >= UNCACHED)?;
    // Looked at once: the session does not change before its first prompt.
    facts.update(|session| session.uncached = None);
    let root = import::root(facts.env).ok()?;
    let source = source::find(facts.env, &root, Some(facts.transcript.as_ref()?.to_str()?)).ok()?;
    let settings = run::merged_settings(facts.env, &Extraction::default()).ok()?;
    let (_, _, cost) = run::counted(&source, &settings, facts.now, 0).ok()?;
    if cost.freed() * 100 < read * SAVES {
        return None;
    }
    facts.update(|session| session.notified.uncached = true);
    let left = read.saturating_sub(cost.freed());
    Some(format!(
        "the prompt cache has expired: your next prompt reads {} tokens anew, or {} after /brain-guard:extract (/brain-guard:undo comes back)",
        tokens(read),
        tokens(left),
    ))
}

/// That the context is nearly full. A figure needs the session in the store, which is not made for
/// it.
fn nearly_full(facts: &mut Facts) -> Option<String> {
    if facts.session.notified.slim_tokens.is_some() {
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
    let (freed, frees) = match &report {
        Some(report) => {
            let (advice, _) = report.compression()?;
            let case = advice.case.words();
            (advice.frees, format!("would free {} tokens ({case})", tokens(advice.frees)))
        }
        None => (0, "shows what could leave this session".to_owned()),
    };
    facts.update(|session| session.notified.slim_tokens = Some(freed));
    Some(format!("the context is {:.0} % full. /brain-guard:slim {frees}", percent.floor()))
}
