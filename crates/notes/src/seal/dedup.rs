//! Step 2: keeps one of several entries that differ only in case, space and punctuation.

use std::collections::HashMap;

use super::draft::{Draft, Item};
use super::report::StepReport;

pub(super) fn run(draft: &mut Draft, log: &mut StepReport) {
    let shape = draft.shape();
    // Entries that must stay come first, so that they replace the others.
    let rank = |item: &Item| (!item.is_open_work(shape), !item.pinned, item.closed, item.home);
    let mut order: Vec<usize> = (0..draft.items.len()).collect();
    order.sort_by_key(|&index| rank(&draft.items[index]));
    let mut kept: HashMap<(&[u64], &str), Vec<usize>> = HashMap::new();
    let mut into = vec![None; draft.items.len()];
    for index in order {
        let item = &draft.items[index];
        // Text without letters or digits is compared as it is.
        let text = if item.tokens.is_empty() { item.text.as_str() } else { "" };
        let same = kept.entry((&item.tokens, text)).or_default();
        let twin = same.iter().find(|&&other| draft.items[other].may_stand_for(item, shape));
        match twin {
            Some(&other) => into[index] = Some(draft.items[other].id),
            None => same.push(index),
        }
    }
    draft.merge_duplicates(&into, log);
}
