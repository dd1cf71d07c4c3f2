//! `--here`: proposes an operation on the session that the verb runs in. The user agrees, by the
//! verb itself or at the prompt.

use std::path::Path;

use anyhow::Context as _;

use super::{EXTRACTED, end_wait, new, saving, wake};
use crate::cli::OutputArgs;
use crate::cmd::output::arguments;
use crate::cmd::selector::{self, Found};
use crate::cmd::surgery::made::Made;
use crate::cmd::surgery::source::Store;
use crate::cmd::surgery::{make, view};
use crate::cmd::{Context, Exit, Failure, operator, out};
use ::surgery::plan::Plan;
use base::env::{self, Env};
use base::paths::project_root;
use guard::files::{state, succession};
use guard::succession::{By, Step, Tokens, Work};
use sessions::round::Session;
use sessions::settings::AgentMay;

/// An operation as on the command line, or by the list in a file.
///
/// # Errors
/// Another session, a setting that forbids it, or no module that could perform it.
pub fn ask(
    Context { env, now }: Context,
    store: &Store,
    plan: Plan,
    output: &OutputArgs,
    list: Option<&Path>,
) -> anyhow::Result<Exit> {
    let dry = OutputArgs { dry_run: true, here: false, ..output.clone() };
    let made = make::make_session(env, now, store, plan, &dry)?;
    let words = match list {
        Some(list) => {
            ["surgery", "edit", "this", "--plan", &list.to_string_lossy()].map(str::to_owned).into()
        }
        None => typed().collect(),
    };
    let effect = format!("rounds {}", view::rounds(&made.plan));
    propose(Context { env, now }, &made, words, effect)
}

/// `extract run --here`.
///
/// # Errors
/// As [`ask`].
pub fn ask_for_extraction(context: Context, made: &Made) -> anyhow::Result<Exit> {
    let words = typed().chain(["--again".to_owned()]).collect();
    propose(context, made, words, EXTRACTED.to_owned())
}

/// The verb and its arguments as given, without `--here`.
fn typed() -> impl Iterator<Item = String> {
    arguments().into_iter().filter(|word| !["--here", "--again"].contains(&word.as_str()))
}

/// Proposes what a dry run made, and prints the answer.
fn propose(
    Context { env, now }: Context,
    made: &Made,
    words: Vec<String>,
    effect: String,
) -> anyhow::Result<Exit> {
    let source = made.plan.sessions.first().context("there is no session to go on from")?;
    let (by, may) = who(env, source)?;
    let found = Found {
        project: project_root(env, Path::new(source.cwd.as_deref().unwrap_or("."))),
        session: source.id.clone(),
    };
    let facts = selector::facts(env, now, &found)?;
    let is_open = by == By::Agent || state::open_in(&facts.places, facts.id).is_some();
    if !is_open || !facts.seen.mod_alive {
        let what = "no client with the plugin's module has this session open, which --here needs";
        return Err(Failure::refused(what).hint("leave --here out, and resume the session").into());
    }
    let may = may.unwrap_or(facts.settings.surgery.agent);
    if may == AgentMay::Off {
        let what = "the user's setting surgery.agent is off";
        return Err(Failure::refused(what).hint("propose the command to the user").into());
    }
    let tokens = Tokens { before: made.cost.before, after: made.cost.after };
    let mut asked = new(&facts, Work::Make(words), effect, Some(tokens), by);
    asked.goes_on = by == By::Agent;
    if may == AgentMay::On {
        asked.advance(Step::Agreed, now);
    }
    succession::create(&facts.places, &asked)?;
    if by == By::User {
        end_wait(&facts)?;
        wake::module(&facts)?;
    }
    let (effect, saving) = (&asked.effect, saving(tokens));
    out(match (may, by) {
        (AgentMay::On, By::User) => {
            format!("{effect} ({saving}); it is done now, or when the turn ends")
        }
        (AgentMay::On, By::Agent) => format!(
            "{effect} ({saving}). It is done when your turn ends: end it now, and you are asked to go on"
        ),
        _ => format!(
            "the user is asked: {effect} ({saving}). If they agree, it is done when your turn ends. Go on with your work"
        ),
    });
    Ok(Exit::Done)
}

/// Who runs the verb, and what they may do whatever the settings say.
///
/// # Errors
/// An agent runs it on another session than its own.
fn who(env: &Env, source: &Session) -> Result<(By, Option<AgentMay>), Failure> {
    if !operator::is_agent(env) {
        return Ok((By::User, Some(AgentMay::On)));
    }
    if env.get(env::SESSION_ID).is_some_and(|own| own != source.id) {
        let what = format!("--here is for the session this runs in, not for {}", source.id);
        return Err(Failure::usage(what));
    }
    Ok((By::Agent, None))
}
