//! Step 3: removes an entry if another one in its section begins with the same words. Entries that
//! are only similar stay: one figure or one "not" makes them say different things. Entries that only
//! the agent may remove are exempt: threads are closed one by one, and every word of a directive
//! counts.

use super::draft::{Draft, Item};
use super::report::StepReport;

/// An entry with fewer words folds only into an equal one: many texts begin with them by chance.
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
        (std::cmp::Reverse(item.tokens.len()), !item.is_open_work(shape), !item.pinned, item.closed)
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

/// Whether `fuller` begins with the words of `item`.
pub(super) fn covers(fuller: &Item, item: &Item) -> bool {
    let enough = item.tokens.len() >= SHORTEST || fuller.tokens == item.tokens;
    let says = !item.tokens.is_empty() && !fuller.none && !item.none;
    enough && says && fuller.tokens.starts_with(&item.tokens)
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
    fn an_entry_folds_only_into_one_that_begins_with_its_words() {
        let long = "slow tests hide what the release build needs. So builds are run first";
        for (other, folds) in [
            ("slow tests  hide what the release build needs", true),
            ("slow tests hide", true),
            ("slow tests", false),
            ("what the release build needs", false),
            ("the release tests hide what slow builds are", false),
        ] {
            assert_eq!(says(long, other), folds, "{other}");
        }
        assert!(says("run  first", "run first."), "but equal ones are one");
    }

    #[test]
    fn what_says_something_else_stays() {
        for (a, b) in [
            (
                "never use port 8080 for the mock of the store",
                "never use port 8081 for the mock of the store",
            ),
            (
                "the flag --fast is safe to use on every machine",
                "the flag --fast is not safe to use on every machine",
            ),
            ("the timeout is 1.5 s in every test", "the timeout is 15 s in every test"),
            ("the loop ends where a == b holds", "the loop ends where a != b holds"),
            ("grep -r finds it in Data/", "grep -R finds it in Data/"),
            ("the call is f(a, b)", "the call is f(a b)"),
            ("run rm build/", "run rm build/*"),
            ("deploy to staging?", "deploy to staging!"),
            ("run the lint in .", "run the lint in .."),
            ("pip install -e .", "pip install -e sub/x"),
            ("see git diff main..", "see git diff main..."),
            ("don't push to main before the tests pass", "push to main before the tests pass"),
        ] {
            assert!(!says(a, b) && !says(b, a), "{a} / {b}");
        }
    }
}
