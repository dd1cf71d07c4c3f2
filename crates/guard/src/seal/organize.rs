//! Step 4: stray and misrouted entries go home; open before closed, pinned first.

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

/// Puts the entries in the order of the file. Entries alike in all this keep theirs: older first.
pub(super) fn sort(draft: &mut Draft) {
    draft.items.sort_by_key(|item| (item.home, item.closed, !item.pinned));
}
