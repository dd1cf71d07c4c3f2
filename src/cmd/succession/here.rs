//! `--here`: proposes an operation on the session that the verb runs in. The user agrees, by the
//! verb itself or at the prompt.

use std::path::Path;

use super::perform::dry_run;
use super::{end_wait, new, wake};
use crate::cmd::selector::{self, Found};
use crate::cmd::surgery::source::Store;
use crate::cmd::surgery::view;
use crate::cmd::{Context, Exit, Failure, operator, out};
use base::env::{self, Env};
use base::paths::project_root;
use guard::files::{state, succession};
use guard::succession::{By, Step, Work};
use sessions::operation::{Operation, Order};
use sessions::round::Session;
use sessions::settings::AgentMay;

/// Proposes an operation, and prints the answer.
///
/// # Errors
/// Another session, a setting that forbids it, or no module that could perform it.
pub fn ask(
    context: Context,
    store: &Store,
    source: &Session,
    mut order: Order,
) -> anyhow::Result<Exit> {
    let Context { env, now } = context;
    let made = dry_run(context, store, source, &order)?;
    if let Operation::Merge { with, .. } = &mut order.operation
        && let Some(other) = made.plan.sessions.iter().find(|session| session.id != source.id)
    {
        // It may be performed in another folder.
        with.clone_from(&other.id);
    }
    let effect = view::effect(&made);
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
    let mut asked = new(&facts, Work::Make(Box::new(order)), effect, Some(made.cost), by);
    asked.goes_on = by == By::Agent;
    if may == AgentMay::On {
        asked.advance(Step::Agreed, now);
    }
    succession::create(&facts.places, &asked)?;
    if by == By::User {
        end_wait(&facts)?;
        wake::module(&facts)?;
    }
    let (effect, saving) = (&asked.effect, view::cost(&made.cost));
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
