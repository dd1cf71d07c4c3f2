//! Step 6: whole entries out until the file is at the seal's target; commits held at their slice.
//!
//! Below the block band the newest entry of each section stays, so that no section an agent
//! filled is sealed empty; only to get below the band do these go as well. What the agent
//! alone may remove is never taken, however big it makes the file.

use crate::compaction::Role;

use super::draft::{Draft, Item};
use super::git;
use super::report::StepReport;

/// In which order the sections give.
const ORDER: [Role; 4] = [Role::Insight, Role::Risks, Role::Custom, Role::Summary];

pub(super) fn run(draft: &mut Draft, log: &mut StepReport) {
    git::run(draft, log);
    let (target, block) = (draft.limits().target_words(), draft.limits().block_words());
    while draft.words() > target {
        let Some(index) = next_out(draft, true) else { break };
        draft.take_out(index, None, log);
    }
    while draft.words() >= block {
        let Some(index) = next_out(draft, false) else { break };
        draft.take_out(index, None, log);
    }
}

/// The entry that goes next: what is closed, then role by role, older before newer.
fn next_out(draft: &Draft, spare_newest: bool) -> Option<usize> {
    let shape = draft.shape();
    let entries =
        || draft.items.iter().enumerate().filter(|(_, item)| item.words > 0 && item.may_go(shape));
    let closed = entries().find(|(_, item)| item.closed);
    let role = |role: Role| {
        let of = move |item: &Item| shape.role(item.home) == role && !item.closed;
        let is_newest = |index: usize, home: usize| {
            !draft
                .items
                .iter()
                .skip(index + 1)
                .any(|later| later.home == home && !later.closed && !later.none)
        };
        entries().find(move |(index, item)| {
            let spared = item.fresh || is_newest(*index, item.home);
            of(item) && !(spare_newest && spared)
        })
    };
    closed.or_else(|| ORDER.into_iter().find_map(role)).map(|(index, _)| index)
}
