//! What a seal asks the agent before it seals: for a next step where there is none, and for one
//! condensed entry in place of those that would be dropped. Asked once; a seal never waits for it.

use std::fmt::Write as _;

use serde::Serialize;

use crate::compaction::flags::flags;
use crate::compaction::item::head;
use crate::compaction::{EntryId, Marker, Role, Shape, measure, parse};

use super::draft::Item;
use super::report::{Removed, Step, Taken};
use super::{Input, Sealed, summarize};

/// Letters that are shown of an entry, which may be a condensed one, and of all together: an
/// agent whose context is full reads them.
const LETTERS: usize = 2_000;
const ALL_LETTERS: usize = 12_000;

/// What is asked; empty where nothing is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Question {
    /// The version that the file has; 0 where it was never sealed.
    pub version: u64,
    /// The section of the next step, where nothing is open in it.
    pub next_step: Option<String>,
    /// The entries that one condensed entry shall replace.
    pub condense: Option<Condense>,
}

/// What is asked where a seal would drop open entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Condense {
    /// The summary's section.
    pub section: String,
    /// The most words of the condensed entry.
    pub words: usize,
    /// The words of open work and pins, where they leave little room.
    pub open: Option<usize>,
    /// The words that the seal aims for.
    pub target: usize,
    /// The entries it replaces: those that would be dropped, and the oldest of the summary, so
    /// that the condensed entry drops no other one.
    pub entries: Vec<Listed>,
}

/// An entry to be condensed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The entry.
    pub id: EntryId,
    /// Its words.
    pub words: usize,
    /// Its text.
    pub text: String,
}

impl Listed {
    fn new(id: EntryId, item: &Item) -> Self {
        Self { id, words: item.words, text: item.text.clone() }
    }
}

impl Question {
    /// What a seal of this input, which came out like this, has to ask.
    pub fn of(input: &Input, sealed: &Sealed) -> Self {
        let version = parse(input.source, input.shape).front().version.unwrap_or(0);
        Self { version, next_step: next_step(input, sealed), condense: condense(input, sealed) }
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.next_step.is_none() && self.condense.is_none()
    }

    /// The ids of the entries to be condensed.
    pub fn listed(&self) -> Vec<EntryId> {
        let entries = self.condense.iter().flat_map(|condense| &condense.entries);
        entries.map(|entry| entry.id).collect()
    }

    /// The question as the agent reads it; `seal` is its command, `path` the file.
    pub fn text(&self, seal: &str, path: &str) -> String {
        let mut out = format!(
            "not sealed yet: the seal asks this once. To seal without an answer, run `{seal}` again."
        );
        if let Some(section) = &self.next_step {
            let _ = write!(
                out,
                "\n\n{section} has no open entry, so the next session would not know where to begin. Add the next step, then seal:\n\
                 brain-guard append --kind next <<'EOF'\n- the next step\nEOF\n\
                 If nothing comes next, say why: brain-guard append --kind next 'none: why'"
            );
        }
        if let Some(Condense { section, words, open, target, entries }) = &self.condense {
            let (count, all) =
                (entries.len(), entries.iter().map(|entry| entry.words).sum::<usize>());
            let _ = write!(
                out,
                "\n\nThe notes are too long, so this seal would drop the oldest of the entries below. Replace all of them ({count}, together {all} words) \
                 with one entry of at most {words} words for {section}. Keep what later sessions need: facts, decisions, hashes, paths, versions, numbers.\n\
                 {seal} --summary - <<'EOF'\n- one condensed entry\nEOF\n\
                 To keep an entry word for word, put `!` in front of it in {path}."
            );
            if let Some(open) = open {
                let _ = write!(
                    out,
                    " Open work and pins take {open} of the {target} words that the seal aims for: close what is done (`brain-guard close ID`), and the entry may be longer by as much."
                );
            }
            let (end, mut shown) = (out.len() + ALL_LETTERS, 0);
            for Listed { id, text, .. } in entries {
                if out.len() >= end {
                    break;
                }
                let _ = write!(out, "\n{id}  {}", head(text, LETTERS));
                shown += 1;
            }
            if count > shown {
                let _ = write!(
                    out,
                    "\n… and {} more; `brain-guard close` lists all entries",
                    count - shown
                );
            }
        }
        out
    }
}

/// The section of the next step, unless something is open there, or this session said why not.
fn next_step(input: &Input, sealed: &Sealed) -> Option<String> {
    let shape = input.shape;
    let section = shape.with_role(Role::Forward)?;
    let document = parse(&sealed.text, shape);
    let answers = document.entries().filter(|entry| {
        let forward = entry.section.is_some_and(|index| shape.role(index) == Role::Forward);
        forward && !entry.closed && !(entry.none && input.inherited.contains(&entry.id))
    });
    (answers.count() == 0).then(|| shape.name(Some(section)).to_owned())
}

/// What would be dropped, and how long an entry in its place may be: two thirds of it, for what
/// is condensed again can't be halved each time. The oldest other entries make room for it.
fn condense(input: &Input, sealed: &Sealed) -> Option<Condense> {
    let (shape, limits) = (input.shape, &input.limits);
    let summary = shape.with_role(Role::Summary)?;
    let new: Vec<EntryId> =
        summarize::new_items(input, summary).iter().map(|item| item.id).collect();
    let mut entries: Vec<Listed> =
        dropped(input, sealed).filter(|entry| !new.contains(&entry.id)).collect();
    if entries.is_empty() {
        return None;
    }
    let document = parse(&sealed.text, shape);
    let left = measure(&document);
    let slice = limits.slice(&shape.sections[summary]).unwrap_or(usize::MAX);
    let (total, target) = (left.total, limits.target_words());
    // Where open work is over the target, the seal spares half of the summary's slice.
    let (in_slice, in_target) =
        if total > target { (slice / 2, usize::MAX) } else { (slice, target - total) };
    let mut in_slice = in_slice.saturating_sub(left.sections[summary].words);
    let mut in_target = in_target;
    let mut words: usize = entries.iter().map(|entry| entry.words).sum();
    let most = |words: usize| (words * 2 / 3).min(slice / 2);
    let mut older: Vec<Item> = document
        .entries()
        .filter_map(|entry| Some((entry, entry.section?)))
        .filter(|(_, section)| is_condensed(shape, *section))
        .map(|(entry, section)| Item::new(&entry.marker, &entry.text, Some(section), section))
        .filter(|item| item.may_go(shape) && !item.closed && !new.contains(&item.id))
        .collect();
    older.sort_by_key(|item| sealed.ages.get(&item.id).map_or(0, |age| age.standing()));
    for item in older {
        if in_slice.min(in_target) >= most(words) {
            break;
        }
        if item.section == Some(summary) {
            in_slice += item.words;
        }
        in_target = in_target.saturating_add(item.words);
        words += item.words;
        entries.push(Listed::new(item.id, &item));
    }
    let section = shape.name(Some(summary)).to_owned();
    let words = most(words).min(in_slice).min(in_target).max(1);
    let (kept, target) = (sealed.report.kept, sealed.report.target);
    let open = (kept * 4 > target * 3).then_some(kept);
    Some(Condense { section, words, open, target, entries })
}

/// The open entries that the seal took out for their size or age, and that no other one stands for.
fn dropped<'a>(input: &'a Input, sealed: &'a Sealed) -> impl Iterator<Item = Listed> + 'a {
    let shape = input.shape;
    let taken = sealed.report.steps.iter().flat_map(|step| &step.removed);
    let goes = move |(taken, removed): &(&Taken, &Removed)| {
        let section = shape.sections.iter().position(|section| section.name == removed.section);
        let flags = flags(&removed.text);
        taken.into.is_none()
            && matches!(removed.step, Step::Summarize | Step::Shrink)
            && section.is_some_and(|section| is_condensed(shape, section))
            && !flags.closed
            && !flags.none
    };
    taken.zip(&sealed.removed).filter(goes).map(|(_, removed)| {
        let item = Item::new(&Marker::Bullet, &removed.text, None, 0);
        Listed::new(removed.id, &item)
    })
}

/// Whether what a section holds ends in the summary. A section of the user's own does not.
fn is_condensed(shape: &Shape, section: usize) -> bool {
    matches!(shape.role(section), Role::Summary | Role::Risks | Role::Insight)
}
