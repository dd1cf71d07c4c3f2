//! `tag matrix`: engagements and their phases, by agent.

use crate::cli::MatrixArgs;
use crate::cmd::surgery::source::Store;
use crate::cmd::{Context, Exit, Run, out, out_json};
use surgery::matrix::{self, Matrix};

impl Run for MatrixArgs {
    fn run(&self, Context { env, .. }: Context) -> anyhow::Result<Exit> {
        let store = Store::open(env)?;
        store.tell_unknown()?;
        let matrix = of(&store, self.engagement.as_deref())?;
        if self.json {
            out_json(&matrix)?;
        } else if matrix.lines.is_empty() {
            out("no round is tagged; brain-guard tag SESSION ROUNDS ENGAGEMENT tags some");
        } else {
            out(matrix.text().trim_end());
        }
        Ok(Exit::Done)
    }
}

/// The matrix of one engagement, or of all.
///
/// # Errors
/// An index that can't be read.
pub(crate) fn of(store: &Store, engagement: Option<&str>) -> anyhow::Result<Matrix> {
    let ids = match engagement {
        Some(id) => vec![id.to_owned()],
        None => store.index.engagements()?.into_iter().map(|(id, _)| id).collect(),
    };
    let tagged = match engagement {
        Some(id) => store.index.engagement(id)?,
        None => store.index.tagged(None)?,
    };
    let with_phases = |id: String| store.index.phases(&id).map(|phases| (id, phases));
    let engagements = ids.into_iter().map(with_phases).collect::<Result<Vec<_>, _>>()?;
    Ok(matrix::matrix(&engagements, &tagged))
}
