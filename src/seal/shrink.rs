//! Step 6: whole entries out until each section is at its slice and the file at the seal's
//! target; commits held at theirs.
//!
//! On the way to the target the newest entry of each section is spared at first, and of the
//! summary half of its slice. They go where the target can't be met otherwise, the least referred
//! to and oldest first, what this call brought last of all. Where what the agent alone may remove
//! is over the target by itself, nothing is won by forgetting all the rest, and they stay. Only
//! to get below the block band does everything go that may.

use crate::compaction::Role;

use super::draft::{Draft, Item};
use super::git;
use super::report::StepReport;

/// In which order the sections give.
const ORDER: [Role; 4] = [Role::Insight, Role::Risks, Role::Custom, Role::Summary];

pub(super) fn run(draft: &mut Draft, log: &mut StepReport) {
    git::run(draft, log);
    for section in 0..draft.shape().sections.len() {
        hold_slice(draft, section, log);
    }
    let (target, block) = (draft.limits().target_words(), draft.limits().block_words());
    while draft.words() > target {
        let Some(index) = next_out(draft, |index| is_spared(draft, index)) else { break };
        draft.take_out(index, None, log);
    }
    let reachable = draft.kept_words() <= target;
    while reachable && draft.words() > target {
        let Some(index) = old_out(draft) else { break };
        draft.take_out(index, None, log);
    }
    while draft.words() >= block {
        let Some(index) = next_out(draft, |_| false) else { break };
        draft.take_out(index, None, log);
    }
}

/// Holds a section to the slice the settings give it; its last entry stays.
fn hold_slice(draft: &mut Draft, section: usize, log: &mut StepReport) {
    let own_step = matches!(draft.shape().role(section), Role::Summary | Role::Git);
    let Some(limit) = draft.slice(section).filter(|_| !own_step) else { return };
    while draft.words_of(section) > limit {
        let may_go = |item: &Item| item.home == section && goes(item, draft);
        let closed = draft.least(|_, item| may_go(item) && item.closed);
        let Some(index) = closed.or_else(|| draft.least(|_, item| may_go(item))) else { break };
        if draft.items.iter().filter(|item| may_go(item)).count() == 1 {
            break;
        }
        draft.take_out(index, None, log);
    }
}

/// Whether taking it out may and does make the file smaller.
fn goes(item: &Item, draft: &Draft) -> bool {
    item.words > 0 && item.may_go(draft.shape())
}

/// The entry that goes next: what is closed, then role by role, the least referred to and
/// oldest first.
fn next_out(draft: &Draft, spared: impl Fn(usize) -> bool) -> Option<usize> {
    let shape = draft.shape();
    let of = |role| {
        draft.least(|index, item| {
            shape.role(item.home) == role && goes(item, draft) && !spared(index)
        })
    };
    let closed = draft.least(|_, item| item.closed && goes(item, draft));
    closed.or_else(|| ORDER.into_iter().find_map(of))
}

/// The least referred to and oldest of what was spared, wherever it stands.
fn old_out(draft: &Draft) -> Option<usize> {
    let of = |fresh| draft.least(|_, item| goes(item, draft) && item.fresh == fresh);
    of(false).or_else(|| of(true))
}

/// The open entries of an entry's section that might go, but only after it.
fn newer<'a>(draft: &'a Draft, index: usize) -> impl Iterator<Item = &'a Item> {
    let (shape, item) = (draft.shape(), &draft.items[index]);
    let rank = (item.age.standing(), index);
    let counts = move |(at, other): &(usize, &Item)| {
        let open = other.home == item.home && !other.closed && other.may_go(shape);
        open && (other.age.standing(), *at) > rank
    };
    draft.items.iter().enumerate().filter(counts).map(|(_, other)| other)
}

/// Whether an open entry stays while the file is below the block band.
fn is_spared(draft: &Draft, index: usize) -> bool {
    let item = &draft.items[index];
    let summary = draft.shape().role(item.home) == Role::Summary;
    let half = if summary { draft.slice(item.home).unwrap_or(0) / 2 } else { 0 };
    let words = item.words + newer(draft, index).map(|newer| newer.words).sum::<usize>();
    item.fresh || newer(draft, index).next().is_none() || words <= half
}
