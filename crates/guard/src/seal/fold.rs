//! Step 3: of near-duplicates that belong in one section, the fuller stays. What the agent alone may
//! remove is none: two threads are closed one by one, and of a directive every word counts.

use super::draft::{Draft, Item};
use super::report::StepReport;

/// How alike two entries must be: words they share, of the words either has.
const ALIKE: f64 = 0.75;

/// From so many different words on, an entry is told by them whatever their order.
const SHORT: usize = 6;

/// With fewer than these it folds only into its like.
const SHORTEST: usize = 3;

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
            fits && item.may_go(shape) && holds(other, item)
        });
        match fuller {
            Some(other) => into[index] = Some(other.id),
            None => kept.push(index),
        }
    }
    draft.take_out_all(&into, log);
}

/// Whether `fuller` says what `item` says: its words, or most of them. Those of a short one stand
/// in many a text by chance, so that they must stand there in a row, and one or two words
/// say something only where they are.
pub(super) fn holds(fuller: &Item, item: &Item) -> bool {
    if item.set.len() < SHORT {
        let enough = item.set.len() >= SHORTEST || fuller.tokens == item.tokens;
        return enough && in_a_row(fuller, item);
    }
    if fuller.none || item.none || fuller.set.len() < item.set.len() {
        return false;
    }
    let shared = shared(&fuller.set, &item.set);
    let either = fuller.set.len() + item.set.len() - shared;
    shared == item.set.len() || shared as f64 >= ALIKE * either as f64
}

/// Whether `item` stands in `fuller` word for word.
fn in_a_row(fuller: &Item, item: &Item) -> bool {
    let said = !item.set.is_empty() && !fuller.none && !item.none;
    said && fuller.tokens.windows(item.tokens.len()).any(|window| window == item.tokens)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::Marker;

    fn says(fuller: &str, other: &str) -> bool {
        let item = |text: &str| Item::new(&Marker::Bullet, text, Some(3), 3);
        holds(&item(fuller), &item(other))
    }

    #[test]
    fn short_entries_fold_only_where_they_stand_in_a_row() {
        let long = "slow tests hide what the release build needs, so builds are run first";
        for (other, folds) in [
            ("tests are slow", false),
            ("the build needs tests first", false),
            ("what the release build needs", true),
            ("Builds are run first!", true),
            ("builds", false),
            ("run first", false),
            ("the release tests hide what slow builds are", true),
        ] {
            assert_eq!(says(long, other), folds, "{other}");
        }
        assert!(says("run  FIRST", "Run first."), "but equal ones are one");
        assert!(!says("the build fails on arm", "the build never fails on arm"));
        assert!(!says("the build never fails on arm", "the build fails on arm"));
    }
}
