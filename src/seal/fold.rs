//! Step 3: of near-duplicates that belong in one section, the fuller stays.

use super::draft::{Draft, Item};
use super::report::StepReport;

/// How alike two entries must be: words they share, of the words either has.
const ALIKE: f64 = 0.75;

pub(super) fn run(draft: &mut Draft, log: &mut StepReport) {
    fold(draft, log, |_| true);
}

/// Folds the entries `of` picks.
pub(super) fn fold(draft: &mut Draft, log: &mut StepReport, of: impl Fn(&Item) -> bool) {
    let shape = draft.shape();
    let mut order: Vec<usize> =
        (0..draft.items.len()).filter(|&index| of(&draft.items[index])).collect();
    // The fullest first: what stays can then only be held against what is no fuller.
    order.sort_by_key(|&index| {
        let item = &draft.items[index];
        (std::cmp::Reverse(item.set.len()), !item.is_open_work(shape), !item.pinned, item.closed)
    });
    let mut kept: Vec<usize> = Vec::with_capacity(order.len());
    let mut into = vec![None; draft.items.len()];
    for index in order {
        let item = &draft.items[index];
        let fuller = kept.iter().map(|&other| &draft.items[other]).find(|other| {
            let fits = other.home == item.home && other.may_stand_for(item, shape);
            fits && holds(other, item, item.is_open_work(shape))
        });
        match fuller {
            Some(other) => into[index] = Some(other.id),
            None => kept.push(index),
        }
    }
    draft.take_out_all(&into, log);
}

/// Whether `fuller` says what `item` says. What the agent alone may remove must stand in it word for
/// word; for the rest its words, or most of them, will do.
pub(super) fn holds(fuller: &Item, item: &Item, word_for_word: bool) -> bool {
    if item.set.is_empty() || fuller.none || item.none {
        return false;
    }
    if word_for_word || item.pinned {
        return fuller.tokens.windows(item.tokens.len()).any(|window| window == item.tokens);
    }
    let shared = shared(&fuller.set, &item.set);
    let either = fuller.set.len() + item.set.len() - shared;
    shared == item.set.len() || shared as f64 >= ALIKE * either as f64
}

/// How many values two sorted lists share.
fn shared(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                (i, j, shared) = (i + 1, j + 1, shared + 1);
            }
        }
    }
    shared
}
