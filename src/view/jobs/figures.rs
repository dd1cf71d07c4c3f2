//! What a plan comes to.

use crate::cmd::Context;
use crate::cmd::surgery::source::Store;
use crate::cmd::surgery::target::Destination;
use crate::cmd::surgery::{pipeline, view};
use crate::view::message::Figures;
use sessions::operation::Order;
use sessions::round::Session;
use surgery::context::Change;

/// Figures of a plan, estimated: only an extraction reads rows.
///
/// # Errors
/// A plan that can't be.
pub fn estimate(
    context: Context,
    session: &Session,
    order: &Order,
) -> anyhow::Result<Vec<Figures>> {
    let store = Store::open(context.env)?;
    let mut planned = pipeline::plan_sessions(context, &store, session, order)?;
    let figures = planned.plans.iter_mut().map(|plan| {
        plan.carry(&mut |id| store.known(id));
        let Change { before, after, .. } = Change::estimate(plan);
        let name = plan.given_to().unwrap_or_default().to_owned();
        let rounds = view::rounds(plan);
        Figures { name, tokens: (before, after), cost: None, thinking_left: 0, rounds }
    });
    Ok(figures.collect())
}

/// Figures of a dry run.
///
/// # Errors
/// A plan that can't be.
pub fn measure(context: Context, name: &str, order: &Order) -> anyhow::Result<Vec<Figures>> {
    let store = Store::open(context.env)?;
    let session = store.session(context.env, Some(name))?;
    let dry = Destination { out: None, dry_run: true };
    let made = pipeline::perform(context, &store, &session, order, dry)?;
    let figures = made.iter().map(|made| Figures {
        name: made.plan.given_to().unwrap_or_default().to_owned(),
        tokens: (made.cost.before, made.cost.after),
        cost: Some(made.cost),
        thinking_left: made.report.thinking_left,
        rounds: view::rounds(&made.plan),
    });
    Ok(figures.collect())
}
