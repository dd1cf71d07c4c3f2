//! Step 3: keeps the longer of near-duplicates in one section. Entries that only the agent may
//! remove are exempt: threads are closed one by one, and every word of a directive counts.

use super::draft::{Draft, Item};
use super::report::StepReport;

/// Minimum similarity of two entries: of all their words, three in four are shared.
const ALIKE: (usize, usize) = (3, 4);

/// From this many different words on, the order of words is ignored.
const SHORT: usize = 6;

/// An entry with fewer different words folds only into an equal one.
const SHORTEST: usize = 3;

pub(super) fn run(draft: &mut Draft, log: &mut StepReport) {
    fold(draft, log, |_| true);
}

/// Folds the entries that `of` selects.
pub(super) fn fold(draft: &mut Draft, log: &mut StepReport, of: impl Fn(&Item) -> bool) {
    let shape = draft.shape();
    let mut order: Vec<usize> =
        (0..draft.items.len()).filter(|&index| of(&draft.items[index])).collect();
    // Longest first, so that each entry is compared only with longer ones.
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
            fits && item.may_go(shape) && covers(other, item)
        });
        match fuller {
            Some(other) => into[index] = Some(other.id),
            None => kept.push(index),
        }
    }
    draft.merge_duplicates(&into, log);
}

/// Whether `fuller` has all or most words of `item`. The words of a short entry occur in many
/// texts by chance, so they must occur in a row. One or two words must be the whole entry.
pub(super) fn covers(fuller: &Item, item: &Item) -> bool {
    if item.set.len() < SHORT {
        let enough = item.set.len() >= SHORTEST || fuller.tokens == item.tokens;
        return enough && in_a_row(fuller, item);
    }
    if fuller.none || item.none || fuller.set.len() < item.set.len() {
        return false;
    }
    // Both lengths together count the shared words twice, so 3 in 4 of all words are 3 in 7 of that
    // sum. All words of a short entry are enough.
    let (shared, of) = ALIKE;
    let alike = (shared * (fuller.set.len() + item.set.len())).div_ceil(shared + of);
    share(&fuller.set, &item.set, alike.min(item.set.len()))
}

/// Whether `fuller` contains `item` word for word.
fn in_a_row(fuller: &Item, item: &Item) -> bool {
    let said = !item.set.is_empty() && !fuller.none && !item.none;
    said && fuller.tokens.windows(item.tokens.len()).any(|window| window == item.tokens)
}

/// Whether two sorted lists have at least `enough` values in common. Stops as soon as that is
/// settled: most pairs of entries differ in their first words.
fn share(a: &[u64], b: &[u64], enough: usize) -> bool {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while shared < enough && shared + (a.len() - i).min(b.len() - j) >= enough {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                (i, j, shared) = (i + 1, j + 1, shared + 1);
            }
        }
    }
    shared >= enough
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::Marker;

    fn says(fuller: &str, other: &str) -> bool {
        let item = |text: &str| Item::new(&Marker::Bullet, text, Some(3), 3);
        covers(&item(fuller), &item(other))
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
