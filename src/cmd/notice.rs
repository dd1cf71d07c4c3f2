//! `now` and `later`: the operator starts a waiting boundary, or keeps the session. From a
//! terminal, or typed at the client's prompt; the agent cannot run them.

use chrono::Duration;

use super::operator_override;
use super::selector::{self, Found};
use super::succession::wake;
use super::{Context, Exit, Failure, Run, operator, out};
use crate::cli::{LaterArgs, NowArgs, SessionSelector, duration};
use base::shown::clock_time;
use guard::boundary::{Carrier, Step, Token};
use guard::files::{boundary, state};
use guard::hook::boundary_flow;
use guard::hook::facts::Facts;
use guard::hook::watch;
use guard::session::Override;

/// How long `later` keeps a session by default.
const KEPT: Duration = Duration::minutes(30);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Wish {
    /// Start the boundary at once.
    Now,
    /// Keep the session for this time.
    Later(Option<Duration>),
}

impl Wish {
    fn verb(&self) -> &'static str {
        match self {
            Self::Now => "now",
            Self::Later(_) => "later",
        }
    }
}

impl Run for NowArgs {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        from_terminal(context, &self.selector, &Wish::Now)
    }
}

impl Run for LaterArgs {
    fn run(&self, context: Context) -> anyhow::Result<Exit> {
        from_terminal(context, &self.selector, &Wish::Later(self.time))
    }
}

fn from_terminal(
    Context { env, now }: Context,
    selector: &SessionSelector,
    wish: &Wish,
) -> anyhow::Result<Exit> {
    operator::refuse_agent(env, wish.verb())?;
    // The commands that a text names for a waiting boundary name no session.
    let waits =
        |found: &Found| selector::facts(env, now, found).is_ok_and(|f| waiting(&f).is_some());
    let found = selector::find_wanted(env, selector, waits)?;
    let facts = selector::running_facts(env, now, &found)?;
    out(format_args!("session {}: {}", found.session, apply(&facts, wish)?));
    Ok(Exit::Done)
}

/// Runs the command as typed at the client's prompt, and returns the answer.
pub fn at_the_prompt(facts: &Facts, command: &str, args: &str) -> String {
    let typed = || {
        operator::refuse_prompt_of_agent(&facts.places, command)?;
        let time = args.split_whitespace().next().filter(|_| command == "later");
        let time = time.map(duration).transpose();
        let time = time.map_err(|why| Failure::usage(format_args!("{args:?}: {why}")))?;
        apply(facts, &if command == "now" { Wish::Now } else { Wish::Later(time) })
    };
    let said = typed().unwrap_or_else(|e: anyhow::Error| format!("{e:#}"));
    format!("brain-guard: {said}")
}

fn apply(facts: &Facts, wish: &Wish) -> anyhow::Result<String> {
    match wish {
        Wish::Now => now(facts),
        Wish::Later(time) => later(facts, *time),
    }
}

fn later(facts: &Facts, time: Option<Duration>) -> anyhow::Result<String> {
    if let Some(cap) = facts.mode_cap() {
        return Ok(refusal(&cap.why()));
    }
    if let Some(token) = waiting(facts) {
        let cancel_now = |t: &mut Token| {
            t.at_once = false;
            t.step < Step::Clearing
        };
        if boundary::update(&facts.places, &token.id, cancel_now)? == Some(false) {
            return Ok("too late, this session is being cleared".to_owned());
        }
    }
    let until = facts.now + time.unwrap_or(KEPT);
    operator_override::set(facts, Some(Override::Until(until)), "later")?;
    let local = clock_time(until, facts.now);
    let now = waiting(facts).map_or("", |_| "/brain-guard:now restarts it; ");
    Ok(format!(
        "until {local}, this session does not restart and nothing is blocked. {now}/brain-guard:override --off ends the wait."
    ))
}

/// The boundary that `now` would perform.
fn waiting(facts: &Facts) -> Option<Token> {
    facts.token().filter(|token| match token.step {
        Step::Unsealed => boundary_flow::wrote_notes(facts),
        _ => token.awaits_carrier_or_held(facts.id),
    })
}

/// The user pressed a button of the notice. "now" leaves some seconds, because its digit may begin a
/// prompt.
pub fn pressed(facts: &Facts, button: &str) -> anyhow::Result<String> {
    if button != "now" {
        return later(facts, None);
    }
    let Some(token) = facts.token().filter(|t| t.step == Step::Pending) else { return now(facts) };
    state::update(&facts.places, facts.id, |s| s.override_ = None)?;
    boundary::update(&facts.places, &token.id, |t| {
        (t.notice_until, t.not_before, t.hold) = (Some(facts.now), None, None);
    })?;
    Ok("this session is cleared as soon as nobody types".to_owned())
}

/// The answer where no boundary may begin.
fn refusal(why: &str) -> String {
    format!("this session does not restart: {why}")
}

fn now(facts: &Facts) -> anyhow::Result<String> {
    let token = waiting(facts);
    // A sealed boundary that is open comes all the same.
    let is_limited = token.as_ref().is_none_or(|token| token.step == Step::Unsealed);
    let job = token.as_ref().map_or(&facts.session.job, |token| &token.job);
    let spent = || facts.spent(job).filter(|_| is_limited);
    if let Some(why) = facts.mode_cap().map(|cap| cap.why()).or_else(spent) {
        return Ok(refusal(&why));
    }
    let Some(token) = token else {
        let is_new = facts.token().is_some_and(|t| t.step == Step::Unsealed);
        let kind = if is_new { "new" } else { "sealed" };
        return Ok(format!(
            "no {kind} notes wait for a restart. /brain-guard:seal asks the agent to write and seal them."
        ));
    };
    state::update(&facts.places, facts.id, |s| s.override_ = None)?;
    if token.step == Step::Unsealed {
        boundary::update(&facts.places, &token.id, |t| t.at_once = true)?;
        return Ok(
            "the notes are sealed as they are, and a fresh session continues from them".to_owned()
        );
    }
    boundary::update(&facts.places, &token.id, |t| {
        (t.at_once, t.hold) = (true, None);
    })?;
    watch::start(facts.env, &facts.places, &token.id)?;
    wake::module(facts)?;
    if token.carrier == Carrier::Manual {
        return Ok("type /clear now; the fresh session gets the notes".to_owned());
    }
    let when = if facts.session.turn.is_some() { "once its turn is over" } else { "now" };
    Ok(format!("this session is cleared {when}, and a fresh one continues from the notes"))
}
