//! `now` and `later`: the operator starts a boundary that waits, or keeps the session. From a
//! terminal, or typed at the client's prompt; the agent can't.

use chrono::Duration;

use super::override_::{self, duration};
use super::whose;
use super::{Exit, out};
use crate::cli::Whose;
use base::clock::Time;
use base::env::Env;
use guard::boundary::{Carrier, Step};
use guard::files::{boundary, state};
use guard::hook::facts::Facts;
use guard::hook::watch;
use guard::session::Override;

/// How long `later` keeps a session where no time is given.
const KEPT: Duration = Duration::minutes(30);

/// What the operator wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// The boundary begins at once.
    Now,
    /// The session is kept for so long.
    Later(Option<String>),
}

impl Wish {
    fn verb(&self) -> &'static str {
        match self {
            Self::Now => "now",
            Self::Later(_) => "later",
        }
    }
}

/// Runs the verb from a terminal.
///
/// # Errors
/// No session, or state that can't be written.
pub fn run(env: &Env, now: Time, whose: &Whose, wish: &Wish) -> anyhow::Result<Exit> {
    if let Err(refused) = whose::operator_only(env, wish.verb()) {
        return Ok(refused);
    }
    let found = whose::find(env, whose)?;
    let facts = whose::facts(env, now, &found)?;
    out(apply(&facts, wish)?);
    Ok(Exit::Done)
}

/// Runs the command as typed at the client's prompt; says what came of it.
pub fn at_the_prompt(facts: &Facts, command: &str, args: &str) -> String {
    let time = args.split_whitespace().next().map(str::to_owned);
    let wish = if command == "now" { Wish::Now } else { Wish::Later(time) };
    if let Err(refused) = whose::typed_by_operator(&facts.places, wish.verb()) {
        return refused;
    }
    apply(facts, &wish).unwrap_or_else(|e| format!("brain-guard: {e:#}"))
}

fn apply(facts: &Facts, wish: &Wish) -> anyhow::Result<String> {
    match wish {
        Wish::Now => now(facts),
        Wish::Later(time) => later(facts, time.as_deref()),
    }
}

fn later(facts: &Facts, time: Option<&str>) -> anyhow::Result<String> {
    let until = facts.now + time.map_or(Ok(KEPT), duration)?;
    override_::set(facts, Some(Override::Until(until)), "later")?;
    let local = until.with_timezone(&chrono::Local).format("%H:%M");
    Ok(format!(
        "brain-guard: this session is kept until {local}, and nothing is blocked until then. End that sooner: /brain-guard:now or /brain-guard:override --off"
    ))
}

fn now(facts: &Facts) -> anyhow::Result<String> {
    let waits =
        |t: &guard::boundary::Token| t.step == Step::Unsealed || t.holds_or_cancelled(facts.id);
    let Some(token) = facts.token().filter(waits) else {
        return Ok(
            "brain-guard: no notes are sealed, so there is nothing to start. /brain-guard:seal asks the agent to seal"
                .to_owned(),
        );
    };
    state::update(&facts.places, facts.id, |s| s.override_ = None)?;
    if token.step == Step::Unsealed {
        // Whoever says so does not want to be waited for.
        state::update(&facts.places, facts.id, |s| s.last_human = None)?;
        return Ok("brain-guard: the notes are sealed as they are, and a fresh session continues from them".to_owned());
    }
    boundary::update(&facts.places, &token.id, |t| {
        (t.at_once, t.cancelled, t.stopped) = (true, false, false);
    })?;
    watch::start(facts.env, &facts.places, &token.id)?;
    if token.carrier == Carrier::Manual {
        return Ok("brain-guard: type /clear now; the fresh session gets the notes".to_owned());
    }
    Ok("brain-guard: this session is cleared now, and a fresh one continues from the notes"
        .to_owned())
}
