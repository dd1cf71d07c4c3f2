//! `override`: the operator lifts the guard for a while. From a terminal, or typed at the client's
//! prompt; the agent cannot run it.

use super::succession::wake;
use super::{Context, Exit, Run, operator, out, selector};
use crate::cli::{OverrideArgs, OverrideSpan};
use anyhow::{Context as _, bail};
use base::shown::clock_time;
use clap::Parser;
use guard::files::state;
use guard::hook::facts::Facts;
use guard::journal::What;
use guard::session::Override;

impl Run for OverrideArgs {
    fn run(&self, Context { env, now }: Context) -> anyhow::Result<Exit> {
        operator::refuse_agent(env, "override")?;
        let found = selector::find(env, &self.selector)?;
        let facts = selector::running_facts(env, now, &found)?;
        let (said, is_on) = apply(&facts, &self.span)?;
        let of = self.selector.session.as_ref().map(|id| format!(" --session {id}"));
        let of = of.unwrap_or_default();
        let end =
            if is_on { format!(". End it: brain-guard override --off{of}") } else { String::new() };
        out(format_args!("session {}: {said}{end}", found.session));
        Ok(Exit::Done)
    }
}

#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Typed {
    #[command(flatten)]
    span: OverrideSpan,
}

/// Runs the command as typed at the client's prompt, and returns the answer.
pub fn at_the_prompt(facts: &Facts, args: &str) -> String {
    typed(facts, args).unwrap_or_else(|e| format!("brain-guard: {e:#}"))
}

fn typed(facts: &Facts, args: &str) -> anyhow::Result<String> {
    operator::refuse_prompt_of_agent(&facts.places, "override")?;
    match Typed::try_parse_from(args.split_whitespace()) {
        Ok(typed) => {
            let (said, is_on) = apply(facts, &typed.span)?;
            let end = if is_on { ". End it: /brain-guard:override --off" } else { "" };
            Ok(format!("brain-guard: {said}{end}"))
        }
        Err(_) => bail!("say for how long: 30m, --calls 20, --until-clear, or --off"),
    }
}

/// Sets or ends the override. Returns what came of it, and whether one is in force.
fn apply(facts: &Facts, how: &OverrideSpan) -> anyhow::Result<(String, bool)> {
    let (value, said) = if let Some(time) = how.time {
        let until = facts.now + time;
        let local = clock_time(until, facts.now);
        (Some(Override::Until(until)), format!("override until {local}: nothing is blocked"))
    } else if let Some(calls) = how.calls {
        let end = state::calls(&facts.places, facts.id) + calls;
        (Some(Override::Calls(end)), format!("override for {calls} tool calls: nothing is blocked"))
    } else if how.until_clear {
        (
            Some(Override::UntilClear),
            "override until the session is cleared: nothing is blocked".to_owned(),
        )
    } else if facts.override_reason().is_none() {
        return Ok(("no override is in force".to_owned(), false));
    } else {
        let lifted = facts.session.lifted.as_ref().filter(|(until, _)| *until > facts.now);
        let cap = facts.mode_cap().or_else(|| lifted.map(|(_, cap)| cap.clone()));
        let now = cap.map_or_else(
            || "blocks and restarts apply again".to_owned(),
            |cap| format!("nothing is blocked, because {}", cap.why()),
        );
        (None, format!("the override is off: {now}"))
    };
    set(facts, value, &said)?;
    Ok((said, value.is_some()))
}

/// Sets or ends the override; `said` is its text for the journal.
///
/// # Errors
/// State that cannot be written.
pub(super) fn set(facts: &Facts, value: Option<Override>, said: &str) -> anyhow::Result<()> {
    let file = facts.places.session(facts.id, "json");
    state::update(&facts.places, facts.id, |s| s.override_ = value)
        .with_context(|| format!("could not write {}", file.display()))?;
    // Without it the strip follows a little later.
    let _ = wake::strip(facts);
    facts.record(What::Override { until: said.to_owned() });
    Ok(())
}
