//! The file while the steps work on it: entries with where they stand and where they belong.

use std::collections::BTreeSet;

use crate::compaction::flags::flags;
use crate::compaction::item::head;
use crate::compaction::{
    Block, BlockKind, Document, EntryId, FrontMatter, Marker, Role, Shape, count_words, sound,
};

use super::past::Age;
use super::report::{Heavy, Moved, Reason, Refused, Removed, Report, StepReport, Taken};
use super::{Input, Limits};

/// The kind of an entry that binds wherever it stands.
const DIRECTIVE: &str = "directive";

/// One entry on its way.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub id: EntryId,
    pub marker: Marker,
    /// With flags, in a form that is read back as it is.
    pub text: String,
    /// Where it stands; `None` for stray text.
    pub section: Option<usize>,
    /// Where it belongs.
    pub home: usize,
    pub pinned: bool,
    pub closed: bool,
    pub none: bool,
    pub inherited: bool,
    pub age: Age,
    /// What a user said that binds, until it is closed.
    pub directive: bool,
    /// Came with this call as the new summary.
    pub fresh: bool,
    pub words: usize,
    /// Its words in order, lower case, without punctuation: hashes, for they are only compared.
    pub tokens: Vec<u64>,
    /// The same without repetition, sorted.
    pub set: Vec<u64>,
}

impl Item {
    pub fn new(marker: &Marker, text: &str, section: Option<usize>, home: usize) -> Self {
        let (marker, text) = sound(marker, text);
        let flags = flags(&text);
        let tokens = tokens(flags.bare);
        let mut set = tokens.clone();
        set.sort_unstable();
        set.dedup();
        Self {
            id: EntryId::of(flags.bare),
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
            set,
            marker,
            text,
        }
    }

    /// Whether this is open work: the agent alone may close or remove it.
    pub fn is_open_work(&self, shape: &Shape) -> bool {
        let kept = matches!(shape.role(self.home), Role::Forward | Role::Threads);
        !self.closed && kept || self.directive
    }

    /// Whether the seal may take it out for its size or age.
    pub fn may_go(&self, shape: &Shape) -> bool {
        !self.pinned && !self.none && !self.is_open_work(shape)
    }

    /// Whether nothing is lost if this one stands for `other`, which says no more:
    /// it must be kept at least as long, and in a place as good.
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

/// The words of a text for comparison, without case and punctuation.
fn tokens(text: &str) -> Vec<u64> {
    let mut tokens = Vec::new();
    for run in text.split_whitespace() {
        let mut hash = Fnv::new();
        for letter in run.chars().filter(|letter| letter.is_alphanumeric()) {
            letter.to_lowercase().for_each(|letter| hash.add(letter));
        }
        tokens.extend(hash.finish());
    }
    tokens
}

/// FNV-1a over letters: fast, and the same on every machine.
struct Fnv(Option<u64>);

impl Fnv {
    fn new() -> Self {
        Self(None)
    }

    fn add(&mut self, letter: char) {
        let state = self.0.unwrap_or(0xcbf2_9ce4_8422_2325);
        self.0 = Some((state ^ u64::from(u32::from(letter))).wrapping_mul(0x0000_0100_0000_01b3));
    }

    /// `None` where there was no letter.
    fn finish(self) -> Option<u64> {
        self.0
    }
}

/// The file between the steps.
pub(super) struct Draft<'a> {
    pub input: &'a Input<'a>,
    pub front: FrontMatter,
    pub title: String,
    /// Comments of each section.
    pub comments: Vec<Vec<String>>,
    /// All entries but the commits.
    pub items: Vec<Item>,
    /// The entries of the sections of role git.
    pub git: Vec<Item>,
    pub removed: Vec<Removed>,
    /// The identifiers of replaced entries that the new summary does not name.
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

    /// What the gauge would read.
    pub fn words(&self) -> usize {
        self.items.iter().map(|item| item.words).sum()
    }

    /// The entry of those that falls out first: the least referred to, the oldest, the first.
    pub fn least(&self, of: impl Fn(usize, &Item) -> bool) -> Option<usize> {
        let items = self.items.iter().enumerate().filter(|(index, item)| of(*index, item));
        items.min_by_key(|(_, item)| item.age.standing()).map(|(index, _)| index)
    }

    /// The words a section is held at, if at any.
    pub fn slice(&self, section: usize) -> Option<usize> {
        self.limits().slice(self.shape().sections.get(section)?)
    }

    /// The words that only the agent may take out.
    pub fn kept_words(&self) -> usize {
        let shape = self.shape();
        self.items.iter().filter(|item| !item.may_go(shape)).map(|item| item.words).sum()
    }

    /// The words that stand in one section.
    pub fn words_of(&self, section: usize) -> usize {
        self.items.iter().filter(|item| item.section == Some(section)).map(|item| item.words).sum()
    }

    /// Takes one entry out; `into` is the one that stands for it.
    pub fn take_out(&mut self, index: usize, into: Option<EntryId>, log: &mut StepReport) {
        let item = self.items.remove(index);
        self.record(&item, into, log);
    }

    /// Takes out several, in this order.
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

    /// Takes out the entries that `into` has a verdict for: `Some` of the one that stands for each.
    /// That one takes over its age.
    pub fn take_out_all(&mut self, into: &[Option<EntryId>], log: &mut StepReport) {
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
                // An answer that is given again is this session's.
                item.inherited &= !item.none || other.inherited;
            }
        }
    }

    /// Keeps an entry that leaves the file.
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

    /// The refusal: what weighs most among what is left, and how much is too much.
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

/// The line of an entry, or of the heading that it was made from.
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
