//! Step 4: moves stray and misplaced entries to their section. Open ones come before closed ones,
//! pinned ones first.

use super::draft::Draft;
use super::report::StepReport;

pub(super) fn run(draft: &mut Draft, log: &mut StepReport) {
    for index in 0..draft.items.len() {
        let home = draft.items[index].home;
        if draft.items[index].section != Some(home) {
            draft.shift(index, home, log);
        }
    }
    sort(draft);
}

/// Sorts the entries as in the file. Otherwise equal ones keep their order, older first.
pub(super) fn sort(draft: &mut Draft) {
    draft.items.sort_by_key(|item| (item.home, item.closed, !item.pinned));
}
