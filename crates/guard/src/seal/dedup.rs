//! Step 2: of entries equal but for case, space and punctuation, one stays.

use std::collections::HashMap;

use super::draft::{Draft, Item};
use super::report::StepReport;

pub(super) fn run(draft: &mut Draft, log: &mut StepReport) {
    let shape = draft.shape();
    // What must stay comes first, so that it stands for the rest.
    let rank = |item: &Item| (!item.is_open_work(shape), !item.pinned, item.closed, item.home);
    let mut order: Vec<usize> = (0..draft.items.len()).collect();
    order.sort_by_key(|&index| rank(&draft.items[index]));
    let mut kept: HashMap<(&[u64], &str), Vec<usize>> = HashMap::new();
    let mut into = vec![None; draft.items.len()];
    for index in order {
        let item = &draft.items[index];
        // Signs without a letter have only themselves to be compared by.
        let text = if item.tokens.is_empty() { item.text.as_str() } else { "" };
        let same = kept.entry((&item.tokens, text)).or_default();
        let twin = same.iter().find(|&&other| draft.items[other].may_stand_for(item, shape));
        match twin {
            Some(&other) => into[index] = Some(draft.items[other].id),
            None => same.push(index),
        }
    }
    draft.take_out_all(&into, log);
}
