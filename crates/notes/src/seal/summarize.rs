//! Step 5: moves closed entries, entries from earlier sessions and the new summary into the summary
//! section, and shrinks that to its slice.

use crate::compaction::{Document, Marker, Role, Shape, parse};

use super::draft::{Draft, Item};
use super::report::StepReport;
use super::{Input, age, fold, identifiers, organize};

pub(super) fn run(draft: &mut Draft, log: &mut StepReport) {
    let shape = draft.shape();
    drop_old_answers(draft, log);
    let Some(summary) = shape.with_role(Role::Summary) else {
        // Without such a section, the new text goes where stray text goes.
        let new = new_items(draft.input, shape.home());
        replace(draft, &new, log);
        draft.items.extend(new);
        organize::sort(draft);
        return;
    };
    let mut folds = Vec::with_capacity(draft.items.len());
    for index in 0..draft.items.len() {
        let item = &draft.items[index];
        let ages = shape.role(item.home).ages();
        let old = item.closed || item.inherited && ages;
        let stays = item.pinned || item.none || item.directive;
        folds.push(old && item.home != summary && !stays);
        if folds[index] {
            draft.shift(index, summary, log);
        }
    }
    // The moved entries are newer than those already there.
    let mut folded = folds.iter();
    let (newer, older) =
        std::mem::take(&mut draft.items).into_iter().partition(|_| folded.next() == Some(&true));
    draft.items = older;
    draft.items.extend::<Vec<Item>>(newer);
    let mut new = new_items(draft.input, summary);
    replace(draft, &new, log);
    let named: Vec<_> = new.iter().flat_map(age::referenced_ids).collect();
    age::add_references(draft, &named);
    // A text that the summary already has moves to the end and keeps its age.
    draft.items.retain(|item| {
        let again = new.iter_mut().find(|new| item.home == summary && new.text == item.text);
        again.map(|again| again.age.absorb(item.age)).is_none()
    });
    draft.items.extend(new);
    fold::fold(draft, log, |item| item.home == summary);
    organize::sort(draft);
    let limit = draft.slice(summary).unwrap_or(usize::MAX);
    while draft.words_of(summary) > limit {
        let Some(index) = next_out(draft, summary) else { break };
        draft.take_out(index, None, log);
    }
}

/// Removes the entries that the new summary replaces.
fn replace(draft: &mut Draft, new: &[Item], log: &mut StepReport) {
    let Some(into) = new.first().map(|item| item.id) else { return };
    let (shape, replaces) = (draft.shape(), draft.input.replaces);
    let goes = |item: &Item| {
        replaces.contains(&item.id)
            && item.may_go(shape)
            && new.iter().all(|other| other.id != item.id)
    };
    let before = draft.items.iter().filter(|item| goes(item)).map(|item| item.text.as_str());
    let after: Vec<&str> = new.iter().map(|item| item.text.as_str()).collect();
    draft.lost_identifiers = identifiers::lost(before, &after.join("\n"));
    while let Some(index) = draft.items.iter().position(goes) {
        draft.take_out(index, Some(into), log);
    }
}

/// Removes the `none: <reason>` of earlier sessions from sections with newer entries. It answered
/// only for them, and one per session would fill the file.
fn drop_old_answers(draft: &mut Draft, log: &mut StepReport) {
    let old = |item: &Item| item.none && item.inherited && !item.pinned;
    let newer: Vec<usize> =
        draft.items.iter().filter(|item| !item.inherited).map(|item| item.home).collect();
    while let Some(index) =
        draft.items.iter().position(|item| old(item) && newer.contains(&item.home))
    {
        draft.take_out(index, None, log);
    }
}

/// The next entry to remove from the summary: closed before open, then the oldest and least
/// referenced. The last open entry and this call's summary stay.
fn next_out(draft: &Draft, summary: usize) -> Option<usize> {
    let shape = draft.shape();
    let in_summary = |item: &Item| item.section == Some(summary);
    let may_go = |closed: bool| {
        move |_, item: &Item| {
            in_summary(item) && item.closed == closed && item.may_go(shape) && !item.fresh
        }
    };
    let open = draft.items.iter().filter(|item| in_summary(item) && !item.closed).count();
    let older = || if open > 1 { draft.least(may_go(false)) } else { None };
    draft.least(may_go(true)).or_else(older)
}

/// The entries of the new summary.
pub(super) fn new_items(input: &Input, section: usize) -> Vec<Item> {
    let entries = input.summary.map_or_else(Vec::new, |text| entries(text, input.shape));
    let item = |(marker, text): (Marker, String)| {
        let mut item = Item::new(&marker, &text, Some(section), section);
        item.fresh = true;
        item.age.born = input.past.map_or(0, |past| past.session);
        item
    };
    entries.into_iter().map(item).collect()
}

/// Parses the entries of a new summary. Skips the summary section's own heading; any other heading
/// becomes an entry.
pub fn entries(text: &str, shape: &Shape) -> Vec<(Marker, String)> {
    let none = Shape::none();
    let document = parse(text, &none);
    let own =
        |title: &str| shape.find(title).is_some_and(|found| shape.role(found) == Role::Summary);
    let mut entries = Vec::new();
    for block in document.blocks() {
        use crate::compaction::BlockKind::{Entry, Heading, Title};
        let (marker, text) = match &block.kind {
            Entry(index) => match document.entries().nth(*index) {
                Some(entry) => (entry.marker.clone(), entry.text.as_str()),
                None => continue,
            },
            Heading { title } => (Marker::Bullet, title.as_str()),
            Title => (Marker::Bullet, document.title().unwrap_or_default()),
            _ => continue,
        };
        let heading = !matches!(block.kind, Entry(_));
        if crate::compaction::says_nothing(text) || heading && own(text) {
            continue;
        }
        entries.push((marker, text.to_owned()));
    }
    entries
}

/// Whether the file already has the new summary.
pub(super) fn is_current(input: &Input, document: &Document) -> bool {
    let section = input.shape.with_role(Role::Summary).unwrap_or_else(|| input.shape.home());
    let there: Vec<_> = document
        .section(section)
        .map(|entry| Item::new(&entry.marker, &entry.text, Some(section), section))
        .collect();
    new_items(input, section)
        .iter()
        .all(|new| there.iter().any(|item| item.text == new.text || fold::covers(item, new)))
}
