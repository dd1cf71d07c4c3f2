//! Performs an operation: plans the new sessions, then makes them.

use super::extracted::Chosen;
use super::made::Made;
use super::make;
use super::source::Store;
use super::target::Destination;
use crate::cmd::{Context, Failure, extract, tag};
use sessions::dialect::{Claude, Dialect as _};
use sessions::operation::{Map, Operation, Order};
use sessions::round::Session;
use surgery::export::Failed;
use surgery::plan::{self, Plan};
use surgery::table::short;

/// What an order makes of a session.
#[derive(Debug)]
pub struct Planned {
    /// A plan for each new session; none if an extraction finds nothing.
    pub plans: Vec<Plan>,
    /// The values to extract.
    chosen: Chosen,
}

/// Plans an operation.
///
/// # Errors
/// A session of another client, or an operation that does not fit the session.
pub fn plan_sessions(
    context: Context,
    store: &Store,
    session: &Session,
    order: &Order,
) -> anyhow::Result<Planned> {
    if session.dialect != Claude.name() {
        return Err(Failed::Dialect(session.id.clone(), session.dialect.clone()).into());
    }
    let (own, fidelity) = (|| session.clone(), order.fidelity);
    let mut chosen = Chosen::default();
    let mut plans = match &order.operation {
        Operation::CompressBefore(before) => vec![plan::compress_before(own(), *before, fidelity)?],
        Operation::CompressEngagement(name) => {
            tag::valid(name)?;
            vec![plan::compress_engagement(own(), name, fidelity)?]
        }
        Operation::ExtractEngagement(name) => {
            tag::valid(name)?;
            vec![plan::extract_engagement(own(), name, fidelity)?]
        }
        Operation::Merge { with, has_table } => {
            let other = store.session(context.env, Some(with))?;
            vec![Plan { voices: *has_table, ..plan::merge(own(), other, fidelity)? }]
        }
        Operation::Split(Some(map)) => plan::split(session, map, fidelity)?,
        Operation::Split(None) => {
            let map = Map::by_tag(session).ok_or_else(|| {
                let what = format!("no round of {} is tagged", short(&session.id));
                let hint =
                    "tag rounds first: t in brain-guard view, or brain-guard tag; or give a MAP.json";
                Failure::refused(what).hint(hint)
            })?;
            plan::split(session, &map, fidelity)?
        }
        Operation::Edit(fates) => plan::edit::edit(session, fates, fidelity)?,
        Operation::Extract(extraction) => {
            let (plan, values) = extract::claude::plan(context, session, extraction, fidelity)?;
            chosen = values;
            if chosen.is_empty() { Vec::new() } else { vec![plan] }
        }
    };
    if order.no_rewound {
        plans.iter_mut().for_each(Plan::omit_rewound);
    }
    Ok(Planned { plans, chosen })
}

/// Makes a session of each plan, or none.
///
/// # Errors
/// Unreadable blocks, an unwritable place, or an invalid output.
pub fn make(
    Context { env, now }: Context,
    store: &Store,
    planned: Planned,
    to: Destination,
) -> anyhow::Result<Vec<Made>> {
    let Planned { plans, chosen } = planned;
    if let Some(out) = to.out.filter(|out| plans.len() > 1 && !out.is_dir()) {
        let what = format!("{} is not a folder: this makes several files", out.display());
        return Err(Failure::refused(what).hint("give a folder that is there with --out").into());
    }
    make::make_sessions(env, now, store, plans, &chosen, to)
}

/// Plans an operation, and makes its sessions.
///
/// # Errors
/// As [`plan_sessions`] and [`make()`].
pub fn perform(
    context: Context,
    store: &Store,
    session: &Session,
    order: &Order,
    to: Destination,
) -> anyhow::Result<Vec<Made>> {
    make(context, store, plan_sessions(context, store, session, order)?, to)
}
