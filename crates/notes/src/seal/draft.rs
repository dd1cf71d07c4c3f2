//! The file between the steps: its entries, with their current section and the one they belong to.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hasher as _};

use crate::compaction::flags::flags;
use crate::compaction::item::head;
use crate::compaction::{
    Block, BlockKind, Document, EntryId, FrontMatter, Marker, Shape, count_words, sound,
};

use super::past::Age;
use super::report::{Heavy, Moved, Reason, Refused, Removed, Report, StepReport, Taken};
use super::{Input, Limits};

/// The kind of an entry that binds in any section.
const DIRECTIVE: &str = "directive";

/// One entry between the steps.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub id: EntryId,
    pub marker: Marker,
    /// With flags, in a form that parses back unchanged.
    pub text: String,
    /// The section it is in; `None` for stray text.
    pub section: Option<usize>,
    /// The section it belongs to.
    pub home: usize,
    pub pinned: bool,
    pub closed: bool,
    pub none: bool,
    pub inherited: bool,
    pub age: Age,
    /// An instruction from the user that binds until it is closed.
    pub directive: bool,
    /// Part of the new summary from this call.
    pub fresh: bool,
    pub words: usize,
    /// Hashes of its words, in order.
    pub tokens: Vec<u64>,
}

impl Item {
    pub fn new(marker: &Marker, text: &str, section: Option<usize>, home: usize) -> Self {
        let (marker, text) = sound(marker, text);
        let flags = flags(&text);
        let tokens = tokens(flags.bare);
        Self {
            id: EntryId::from_text(flags.bare),
            section,
            home,
            pinned: flags.pinned,
            closed: flags.closed,
            none: flags.none,
            inherited: false,
            age: Age::default(),
            directive: flags.word.as_deref() == Some(DIRECTIVE) && !flags.closed,
            fresh: false,
            words: count_words(flags.bare),
            tokens,
            marker,
            text,
        }
    }

    /// Whether this is open work, which only the agent may close or remove.
    pub fn is_open_work(&self, shape: &Shape) -> bool {
        !self.closed && shape.role(self.home).is_work() || self.directive
    }

    /// Whether the seal may remove it because of size or age.
    pub fn may_go(&self, shape: &Shape) -> bool {
        !self.pinned && !self.none && !self.is_open_work(shape)
    }

    /// Whether this one may replace `other`, which says no more. It must stay at least as long, in
    /// an equally good section.
    pub fn may_stand_for(&self, other: &Self, shape: &Shape) -> bool {
        let here = self.home == other.home;
        if self.none != other.none || other.none && !here {
            return false;
        }
        if other.pinned && !(self.pinned && here && self.closed == other.closed) {
            return false;
        }
        if other.is_open_work(shape) {
            return self.is_open_work(shape);
        }
        other.closed || !self.closed
    }
}

/// Hashes of a text's words. Their characters count, because `-r` is not `-R` and `a, b` is not
/// `a b`. The case of the first letter does not count, nor do full stops and a last exclamation mark
/// right behind a word. Dots of paths and ranges do.
fn tokens(text: &str) -> Vec<u64> {
    let mut rest = text.trim().chars();
    let first = rest.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    let text = first + rest.as_str();
    let is_behind_a_word =
        |text: &&str| text.ends_with(|c: char| c.is_alphanumeric() || ")`\"'".contains(c));
    let hash = |run: &str| {
        let mut hash = DefaultHasher::new();
        hash.write(run.strip_suffix('.').filter(is_behind_a_word).unwrap_or(run).as_bytes());
        hash.finish()
    };
    let plain = text.strip_suffix('!');
    let plain = plain.filter(|text| is_behind_a_word(&text.strip_suffix('.').unwrap_or(text)));
    let text = plain.unwrap_or(&text);
    text.split_whitespace().map(hash).collect()
}

/// The file between the steps.
pub(super) struct Draft<'a> {
    pub input: &'a Input<'a>,
    pub front: FrontMatter,
    pub title: String,
    /// The comments of each section.
    pub comments: Vec<Vec<String>>,
    /// All entries except the commits.
    pub items: Vec<Item>,
    /// The entries of sections with the role git.
    pub git: Vec<Item>,
    pub removed: Vec<Removed>,
    /// Identifiers of replaced entries that the new summary does not name.
    pub lost_identifiers: Vec<String>,
}

impl<'a> Draft<'a> {
    pub fn new(input: &'a Input<'a>, document: &Document) -> Self {
        let mut front = document.front().clone();
        let job = front.job.get_or_insert_with(|| input.job.to_owned());
        let title = document.title().unwrap_or(job).to_owned();
        Self {
            input,
            front,
            title,
            comments: Vec::new(),
            items: Vec::new(),
            git: Vec::new(),
            removed: Vec::new(),
            lost_identifiers: Vec::new(),
        }
    }

    pub fn shape(&self) -> &'a Shape {
        self.input.shape
    }

    pub fn limits(&self) -> &'a Limits {
        &self.input.limits
    }

    /// The words that count against the file's limit.
    pub fn words(&self) -> usize {
        self.items.iter().map(|item| item.words).sum()
    }

    /// The selected entry to remove first: the oldest and least referenced one.
    pub fn least(&self, of: impl Fn(usize, &Item) -> bool) -> Option<usize> {
        let items = self.items.iter().enumerate().filter(|(index, item)| of(*index, item));
        items.min_by_key(|(_, item)| item.age.standing()).map(|(index, _)| index)
    }

    /// Maximum words of a section, if it has one.
    pub fn slice(&self, section: usize) -> Option<usize> {
        self.limits().slice(self.shape().sections.get(section)?)
    }

    /// The words that only the agent may remove.
    pub fn kept_words(&self) -> usize {
        let shape = self.shape();
        self.items.iter().filter(|item| !item.may_go(shape)).map(|item| item.words).sum()
    }

    /// The words of one section.
    pub fn words_of(&self, section: usize) -> usize {
        self.items.iter().filter(|item| item.section == Some(section)).map(|item| item.words).sum()
    }

    /// Removes one entry; `into` is the one that replaces it.
    pub fn take_out(&mut self, index: usize, into: Option<EntryId>, log: &mut StepReport) {
        let item = self.items.remove(index);
        self.record(&item, into, log);
    }

    /// Removes several entries, in this order.
    pub fn take_out_these(&mut self, order: &[usize], log: &mut StepReport) {
        for &index in order {
            let item = self.items[index].clone();
            self.record(&item, None, log);
        }
        let gone: BTreeSet<usize> = order.iter().copied().collect();
        let mut index = 0;
        self.items.retain(|_| {
            index += 1;
            !gone.contains(&(index - 1))
        });
    }

    /// Removes each entry for which `into` has a replacement. The replacement takes over its age.
    pub fn merge_duplicates(&mut self, into: &[Option<EntryId>], log: &mut StepReport) {
        let items = std::mem::take(&mut self.items);
        let mut left = Vec::new();
        for (item, into) in items.into_iter().zip(into) {
            if let Some(into) = into {
                self.record(&item, Some(*into), log);
                left.push((*into, item));
            } else {
                self.items.push(item);
            }
        }
        for (into, other) in left {
            if let Some(item) = self.items.iter_mut().find(|item| item.id == into) {
                item.age.absorb(other.age);
                // An answer that was written again counts as this session's.
                item.inherited &= !item.none || other.inherited;
            }
        }
    }

    /// Records a removed entry.
    pub fn record(&mut self, item: &Item, into: Option<EntryId>, log: &mut StepReport) {
        let section = self.shape().name(item.section).to_owned();
        log.removed.push(Taken {
            id: item.id,
            section: section.clone(),
            into,
            head: head_of(item),
        });
        self.removed.push(Removed {
            step: log.step,
            section,
            id: item.id,
            text: item.text.clone(),
        });
    }

    /// Moves an entry to a section.
    pub fn shift(&mut self, index: usize, section: usize, log: &mut StepReport) {
        let shape = self.shape();
        let item = &mut self.items[index];
        let (from, to) =
            (shape.name(item.section).to_owned(), shape.name(Some(section)).to_owned());
        log.moved.push(Moved { id: item.id, from, to, head: head_of(item) });
        item.section = Some(section);
        item.home = section;
    }

    /// The refusal, with the largest remaining entries and the number of words to cut.
    pub fn refuse(&self, reason: Reason, report: Report, document: &Document) -> Refused {
        let words = self.words();
        let cut = (words + 1).saturating_sub(self.limits().block_words());
        let mut items: Vec<&Item> = self.items.iter().collect();
        items.sort_by_key(|item| std::cmp::Reverse(item.words));
        let heavy = |item: &Item| Heavy {
            id: item.id,
            section: self.shape().name(item.section).to_owned(),
            line: line_of(item, document),
            words: item.words,
            head: head_of(item),
        };
        Refused {
            reason,
            report,
            words,
            cut,
            heaviest: items.into_iter().take(5).map(heavy).collect(),
        }
    }
}

/// The line of an entry, or of the heading that became the entry.
fn line_of(item: &Item, document: &Document) -> Option<usize> {
    let entry = document.entries().find(|entry| entry.id == item.id).map(|e| e.range.start);
    let title = item.text.lines().next();
    let heading = |block: &&Block| matches!(&block.kind, BlockKind::Heading { title: t } if Some(t.as_str()) == title);
    let at = entry.or_else(|| document.blocks().iter().find(heading).map(|b| b.range.start))?;
    Some(document.source()[..at].matches('\n').count() + 1)
}

fn head_of(item: &Item) -> String {
    head(flags(&item.text).bare, 60)
}
