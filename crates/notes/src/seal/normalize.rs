//! Step 1: every entry becomes a list item, and every section occurs once. The agent's own headings
//! become one entry with the entries below.

use std::collections::BTreeSet;

use crate::compaction::flags::flags;
use crate::compaction::item::written;
use crate::compaction::{BlockKind, Document, Entry, Marker, Role, Shape, prompt, says_nothing};

use super::age;
use super::draft::{Draft, Item};
use super::report::StepReport;

/// An unknown heading and the open entries below it.
struct Group {
    title: String,
    section: Option<usize>,
    members: Vec<String>,
    /// Whether an entry below it became an entry of its own.
    parted: bool,
}

pub(super) fn run(draft: &mut Draft, document: &Document, log: &mut StepReport) {
    let shape = draft.shape();
    let entries: Vec<&Entry> = document.entries().collect();
    let mut comments = vec![Vec::new(); shape.sections.len()];
    let (mut stray, mut group) = (Vec::new(), None);
    for block in document.blocks() {
        match &block.kind {
            BlockKind::Comment => {
                let raw = document.source()[block.range.clone()].trim().to_owned();
                match block.section {
                    Some(section) => comments[section].push(raw),
                    None => stray.push(raw),
                }
            }
            BlockKind::Heading { title } => {
                close(draft, group.take(), log);
                let (section, members) = (block.section, Vec::new());
                group = Some(Group { title: title.clone(), section, members, parted: false });
            }
            BlockKind::Section | BlockKind::Title => close(draft, group.take(), log),
            BlockKind::Entry(index) => take(draft, entries[*index], &mut group, log),
            BlockKind::Front | BlockKind::Gap => {}
        }
    }
    close(draft, group, log);
    // Keeps an edited prompt, and restores a missing one.
    for (comments, section) in comments.iter_mut().zip(&shape.sections) {
        if comments.is_empty() {
            comments.extend(prompt(section));
        }
    }
    comments[shape.home()].append(&mut stray);
    for comments in &mut comments {
        let mut seen = BTreeSet::new();
        comments.retain(|comment| seen.insert(comment.clone()));
    }
    draft.comments = comments;
    for item in &mut draft.items {
        item.inherited = draft.input.inherited.contains(&item.id);
    }
    age::run(draft);
}

fn take(draft: &mut Draft, entry: &Entry, group: &mut Option<Group>, log: &mut StepReport) {
    let shape = draft.shape();
    let is_git = entry.section.is_some_and(|section| shape.role(section) == Role::Git);
    if says_nothing(&entry.text) {
        if !entry.text.is_empty() {
            let item = Item::new(&Marker::Bullet, &entry.text, entry.section, shape.home());
            draft.record(&item, None, log);
        }
        return;
    }
    let own = entry.pinned || entry.closed || entry.none || entry.kind.is_some();
    if let Some(group) = group {
        if !own && !flags(&group.title).closed && !is_git {
            group.members.push(written(&entry.marker, &entry.text));
            return;
        }
        group.parted = true;
    }
    let home = home(shape, entry.section, entry.kind.as_deref(), entry.closed);
    let item = Item::new(&entry.marker, &entry.text, entry.section, home);
    if is_git { draft.git.push(item) } else { draft.items.push(item) }
}

/// Turns a group into one entry. Drops a heading whose entries all became entries of their own.
fn close(draft: &mut Draft, group: Option<Group>, log: &mut StepReport) {
    let Some(group) = group else { return };
    let shape = draft.shape();
    let flags = flags(&group.title);
    let home = home(shape, group.section, flags.word.as_deref(), flags.closed);
    let mut text = group.title.clone();
    for member in &group.members {
        text.push('\n');
        text.push_str(member);
    }
    let item = Item::new(&Marker::Bullet, &text, group.section, home);
    if group.parted && group.members.is_empty() && !flags.pinned {
        draft.record(&item, None, log);
    } else if group.section.is_some_and(|section| shape.role(section) == Role::Git) {
        draft.git.push(item);
    } else {
        draft.items.push(item);
    }
}

/// The section an entry belongs to: the one for its kind, else the one it is in, else the open
/// threads. Open work never leaves the sections for it, and entries of the summary stay there.
fn home(shape: &Shape, section: Option<usize>, kind: Option<&str>, closed: bool) -> usize {
    let writable = |index: &usize| shape.role(*index) != Role::Git;
    let route = kind.and_then(|kind| shape.route(kind)).filter(writable);
    let Some(section) = section else { return route.unwrap_or_else(|| shape.home()) };
    let keeps = |index: usize| shape.role(index).is_work();
    let stays = closed || matches!(shape.role(section), Role::Summary | Role::Git);
    match route {
        Some(route) if !stays && (!keeps(section) || keeps(route)) => route,
        _ => section,
    }
}
