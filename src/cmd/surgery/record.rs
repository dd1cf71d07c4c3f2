//! The record of a new session: its sources, and the rounds that its index tables refer to.

use super::made::Made;
use super::source::Store;
use super::write;
use base::atomic::Mark;
use store::blocks;
use store::index::{Detail, Numbers};

/// Builds the record.
///
/// # Errors
/// Databases that cannot be read.
pub fn detail(store: &Store, made: &Made, mark: Mark) -> anyhow::Result<Detail> {
    let sessions = made.plan.sessions.iter();
    Ok(Detail {
        sources: sessions.map(|s| (s.agent.clone(), s.id.clone())).collect(),
        companions: made.companions.iter().map(write::noted).collect(),
        tables: tables(store, made)?,
        mark,
    })
}

/// The rounds in its own tables, and in older tables within kept rounds.
fn tables(store: &Store, made: &Made) -> anyhow::Result<Vec<Numbers>> {
    let plan = &made.plan;
    let own = plan.sessions.iter().chain(&plan.origins).enumerate().map(|(number, session)| {
        let seqs = plan.indexed().filter(|place| place.session == number).map(|place| place.seq);
        let blocks = blocks::identity(&store.folder(session).blocks());
        Numbers::from_seqs(&session.agent, &session.id, blocks, seqs)
    });
    let mut all: Vec<Numbers> = own.filter(|numbers| !numbers.rounds.is_empty()).collect();
    if made.report.told.is_empty() {
        return Ok(all);
    }
    let exports = store.index.exports()?;
    for session in made.report.told.iter().filter_map(|number| plan.sessions.get(*number)) {
        let source = exports.iter().find(|export| export.id == session.id);
        for numbers in source.into_iter().flat_map(|export| export.detail.tables.clone()) {
            if !all.contains(&numbers) {
                all.push(numbers);
            }
        }
    }
    Ok(all)
}
