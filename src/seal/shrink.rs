//! Step 6: whole entries out until the file is at the seal's target; commits held at their slice.
//!
//! On the way to the target the newest entry of each section is spared, and of the summary the
//! newest half of its slice: open work alone may be over the target, and then nothing is won by
//! forgetting all the rest. Only to get below the block band do these go as well. What the
//! agent alone may remove is never taken, however big it makes the file.

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
        let Some(index) = next_out(draft, |index| is_spared(draft, index)) else { break };
        draft.take_out(index, None, log);
    }
    while draft.words() >= block {
        let Some(index) = next_out(draft, |_| false) else { break };
        draft.take_out(index, None, log);
    }
}

/// The entry that goes next: what is closed, then role by role, older before newer.
fn next_out(draft: &Draft, spared: impl Fn(usize) -> bool) -> Option<usize> {
    let shape = draft.shape();
    let may_go = |item: &Item| item.words > 0 && item.may_go(shape);
    let entries = || draft.items.iter().enumerate().filter(|(_, item)| may_go(item));
    let closed = entries().find(|(_, item)| item.closed);
    let of =
        |role| entries().find(|(index, item)| shape.role(item.home) == role && !spared(*index));
    closed.or_else(|| ORDER.into_iter().find_map(of)).map(|(index, _)| index)
}

/// Whether an open entry stays while the file is below the block band.
fn is_spared(draft: &Draft, index: usize) -> bool {
    let shape = draft.shape();
    let item = &draft.items[index];
    let counts = |later: &&Item| later.home == item.home && !later.closed && later.may_go(shape);
    let newer = || draft.items[index + 1..].iter().filter(counts);
    let half =
        if shape.role(item.home) == Role::Summary { draft.limits().summary_words() / 2 } else { 0 };
    let words = item.words + newer().map(|newer| newer.words).sum::<usize>();
    item.fresh || newer().next().is_none() || words <= half
}
