//! `matrix`: engagements and their phases by agents.

use super::surgery::source::Store;
use super::{Exit, out, out_json};
use crate::cli::MatrixArgs;
use base::env::Env;
use surgery::matrix;

/// Runs the verb.
///
/// # Errors
/// An engagement that nobody has.
pub fn run(env: &Env, args: &MatrixArgs) -> anyhow::Result<Exit> {
    let store = Store::open(env)?;
    store.tell_unknown()?;
    let ids = match &args.engagement {
        Some(id) => vec![id.clone()],
        None => store.index.engagements()?.into_iter().map(|(id, _)| id).collect(),
    };
    let tagged = match &args.engagement {
        Some(id) => store.index.engagement(id)?,
        None => store.index.tagged(None)?,
    };
    let with_phases = |id: String| store.index.phases(&id).map(|phases| (id, phases));
    let engagements = ids.into_iter().map(with_phases).collect::<Result<Vec<_>, _>>()?;
    let matrix = matrix::matrix(&engagements, &tagged);
    if args.json {
        out_json(&matrix)?;
    } else if args.csv {
        out(matrix.csv().trim_end());
    } else if matrix.lines.is_empty() {
        out("no round is tagged; brain-guard tag SESSION ROUNDS ENGAGEMENT tags some");
    } else {
        out(matrix.text().trim_end());
    }
    Ok(Exit::Done)
}
