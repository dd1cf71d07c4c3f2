//! Questions to the agent before a seal: for a missing next step, and for one condensed entry that
//! replaces those to be dropped. They are asked once, and a seal never waits for the answer.

use std::fmt::Write as _;

use serde::Serialize;

use crate::compaction::flags::flags;
use crate::compaction::item::head;
use crate::compaction::{Document, EntryId, FrontMatter, Marker, Role, Shape, measure, parse};

use super::draft::Item;
use super::report::{Removed, Step, Taken};
use super::{Input, Sealed, summarize};

/// Maximum characters shown of one entry and of all, because the agent's context is nearly full.
const LETTERS: usize = 2_000;
const ALL_LETTERS: usize = 12_000;

/// The questions; empty if there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Question {
    /// The file's version; 0 if it was never sealed.
    pub version: u64,
    /// The section for the next step, if it has no open entry.
    pub next_step: Option<String>,
    /// What is missing, if the notes say little.
    pub little: Option<Little>,
    /// The entries that one condensed entry should replace.
    pub condense: Option<Condense>,
}

/// Notes that say little.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Little {
    /// All their words.
    pub words: usize,
    /// The sections without an entry.
    pub empty: Vec<String>,
}

/// The request to condense open entries that the seal would drop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Condense {
    /// The summary's section.
    pub section: String,
    /// Maximum words of the condensed entry.
    pub words: usize,
    /// The words of open work and pins, if they leave little room.
    pub open: Option<usize>,
    /// The words that the seal aims for.
    pub target: usize,
    /// The entries it replaces: those to be dropped, and the oldest of the summary, so that the
    /// condensed entry displaces no other.
    pub entries: Vec<Listed>,
}

/// An entry to condense.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Its id.
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
    /// The questions about this input, given the result of a trial seal. Notes below `little` words
    /// say little.
    pub fn for_seal(input: &Input, sealed: &Sealed, little: usize) -> Self {
        let version = FrontMatter::read(input.source).0.version.unwrap_or(0);
        let document = parse(&sealed.text, input.shape);
        let next_step = next_step(input, &document);
        let condense = condense(input, sealed, &document);
        Self { version, next_step, little: says_little(&document, little), condense }
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.next_step.is_none() && self.little.is_none() && self.condense.is_none()
    }

    /// The ids of the entries to condense.
    pub fn ids_to_condense(&self) -> Vec<EntryId> {
        let entries = self.condense.iter().flat_map(|condense| &condense.entries);
        entries.map(|entry| entry.id).collect()
    }

    /// The text for the agent. `seal` is the command to seal, `path` the compaction file.
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
        if let Some(Little { words, empty }) = &self.little {
            let _ = write!(
                out,
                "\n\nThe notes have only {words} words, and nothing of this session under: {}. A fresh session knows only what the notes say. Add what it needs (`brain-guard append --kind …`), then seal. Where there is nothing to say, say why: brain-guard append --kind thread 'none: why'",
                empty.join(", ")
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

/// What is missing in notes of fewer than `little` words.
fn says_little(document: &Document, little: usize) -> Option<Little> {
    let (words, empty) = (measure(document).total, document.empty_authored());
    (words < little && !empty.is_empty()).then_some(Little { words, empty })
}

/// The section for the next step, unless it has an open entry or this session's `none: <reason>`.
fn next_step(input: &Input, document: &Document) -> Option<String> {
    let shape = input.shape;
    let section = shape.with_role(Role::Forward)?;
    let answers = document.entries().filter(|entry| {
        let forward = entry.section.is_some_and(|index| shape.role(index) == Role::Forward);
        forward && !entry.closed && !(entry.none && input.inherited.contains(&entry.id))
    });
    (answers.count() == 0).then(|| shape.name(Some(section)).to_owned())
}

/// The entries to drop, and the length of the entry that replaces them: at most two thirds, because
/// text that is condensed again and again cannot halve each time. The oldest entries make room.
fn condense(input: &Input, sealed: &Sealed, document: &Document) -> Option<Condense> {
    let (shape, limits) = (input.shape, &input.limits);
    let summary = shape.with_role(Role::Summary)?;
    let new: Vec<EntryId> =
        summarize::new_items(input, summary).iter().map(|item| item.id).collect();
    let mut entries: Vec<Listed> =
        dropped(input, sealed).filter(|entry| !new.contains(&entry.id)).collect();
    if entries.is_empty() {
        return None;
    }
    let left = measure(document);
    let slice = limits.slice(&shape.sections[summary]).unwrap_or(usize::MAX);
    let (total, target) = (left.total, limits.target_words());
    // If open work exceeds the target, the seal keeps half of the summary's slice.
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

/// The open entries that the seal removed because of size or age, without a replacement.
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

/// Whether the entries of a section end up in the summary. Those of custom sections do not.
fn is_condensed(shape: &Shape, section: usize) -> bool {
    let role = shape.role(section);
    role == Role::Summary || role.ages()
}
