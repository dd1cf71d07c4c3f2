//! Step 8: checks that the new text parses as intended, has every section, and is small enough.

use crate::compaction::{Stamp, StampState, parse};

use super::draft::{Draft, Item};
use super::report::Reason;

pub(super) fn run(draft: &Draft, text: &str) -> Result<(), Reason> {
    if draft.words() >= draft.limits().block_words() {
        return Err(Reason::TooBig);
    }
    let shape = draft.shape();
    let document = parse(text, shape);
    let whole = (0..shape.sections.len()).all(|section| document.has_section(section));
    let mut meant: Vec<&Item> = draft.items.iter().chain(&draft.git).collect();
    meant.sort_by_key(|item| item.section);
    let read = document.entries().map(|entry| (entry.section, &entry.marker, entry.text.as_str()));
    let same = read.eq(meant.iter().map(|item| (item.section, &item.marker, item.text.as_str())));
    if whole && same && Stamp::check(&document) == StampState::Fresh {
        Ok(())
    } else {
        Err(Reason::Unsound)
    }
}
