//! Step 2: keeps one of several entries that say the same in the same words.

use std::collections::HashMap;

use super::draft::{Draft, Item};
use super::report::StepReport;

pub(super) fn run(draft: &mut Draft, log: &mut StepReport) {
    let shape = draft.shape();
    // Entries that must stay come first, so that they replace the others.
    let rank = |item: &Item| (!item.is_open_work(shape), !item.pinned, item.closed, item.home);
    let mut order: Vec<usize> = (0..draft.items.len()).collect();
    order.sort_by_key(|&index| rank(&draft.items[index]));
    let mut kept: HashMap<&[u64], Vec<usize>> = HashMap::new();
    let mut into = vec![None; draft.items.len()];
    for index in order {
        let item = &draft.items[index];
        let same = kept.entry(&item.tokens).or_default();
        let twin = same.iter().find(|&&other| draft.items[other].may_stand_for(item, shape));
        match twin {
            Some(&other) => into[index] = Some(draft.items[other].id),
            None => same.push(index),
        }
    }
    draft.merge_duplicates(&into, log);
}
