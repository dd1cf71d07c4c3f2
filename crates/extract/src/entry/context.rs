//! Which entries are in the model's context: on the branch of the last one, after the last
//! compaction.

use std::collections::{HashMap, HashSet};

use super::read::{Head, Parent, Shape};
use super::{Entry, Role, hash};
use sessions::span::{find, items, plain};

/// How an entry is linked to others. Ids are hashes, and 0 is none.
#[derive(Debug, Clone)]
pub struct Link {
    id: u64,
    /// Its parent; `None`: the row before.
    parent: Option<u64>,
    /// If its parent is missing, the row before is its parent, as Claude Code reads it; otherwise
    /// the conversation begins with it.
    reads_on: bool,
    /// The API's message that an agent's row is part of.
    message: u64,
    /// A compaction, with the first earlier entry that it kept.
    cut: Option<u64>,
    /// A subagent's row in a main-loop file: it is in no chain.
    beside: bool,
}

/// Indexes of links, by id.
type Rows = HashMap<u64, usize>;

/// A row's link, before the earlier rows complete it.
#[derive(Debug)]
pub struct Loose {
    link: Link,
    /// What a compaction of Claude Code kept in addition.
    kept: Option<Vec<u64>>,
}

/// The links of a file's entries, in order.
#[derive(Debug, Default)]
pub struct Links {
    all: Vec<Link>,
    /// What compactions of Claude Code kept in addition, by the index of their link.
    kept: HashMap<usize, Vec<u64>>,
}

impl Loose {
    /// The link of a row; `message` is the API's message that it is part of, or 0.
    pub fn of(line: &[u8], head: &Head, message: u64) -> Self {
        let claude = head.shape() == Shape::Claude;
        let mut kept = None;
        let cut = match head.kind {
            b"\"compaction\"" | b"\"reset\"" if !claude => Some(head.first_kept.map_or(0, hash)),
            b"\"system\"" if claude && head.subtype == b"\"compact_boundary\"" => {
                kept = Some(preserved(line).unwrap_or_default());
                Some(0)
            }
            _ => None,
        };
        let parent = match head.parent {
            Parent::Before => None,
            Parent::None => Some(0),
            Parent::Row(id) => Some(hash(id)),
        };
        let id = head.id().map_or(0, hash);
        // The context begins with a summary even without its boundary.
        let reads_on = parent.is_none() || claude && parent != Some(0) && !head.summary;
        Self { link: Link { id, parent, reads_on, message, cut, beside: false }, kept }
    }
}

impl Links {
    /// Adds the link of the next entry.
    pub fn add(&mut self, loose: Loose, beside: bool) {
        if let Some(kept) = loose.kept {
            self.kept.insert(self.all.len(), kept);
        }
        let message = if beside { 0 } else { loose.link.message };
        self.all.push(Link { message, beside, ..loose.link });
    }

    /// Marks the entries in the context, and clears the values of entries that share an id. Needs
    /// one link for each entry.
    pub fn settle(&self, entries: &mut [Entry]) {
        let mut rows = Rows::with_capacity(self.all.len());
        for (n, link) in self.all.iter().enumerate() {
            if let Some(other) = rows.insert(link.id, n) {
                for n in [n, other] {
                    entries[n].shared += entries[n].values.len() as u32;
                    entries[n].values.clear();
                }
            }
        }
        let mut on = vec![false; self.all.len()];
        let cut = self.branch(&rows, &mut on);
        self.siblings(cut, &rows, entries, &mut on);
        for kept in cut.and_then(|n| self.kept.get(&n)).into_iter().flatten() {
            if let Some(n) = rows.get(kept) {
                on[*n] = true;
            }
        }
        for (entry, on) in entries.iter_mut().zip(on) {
            entry.in_context = on;
        }
    }

    /// Marks the branch, from the last entry along the parents; returns the compaction that ends
    /// it.
    fn branch(&self, rows: &Rows, on: &mut [bool]) -> Option<usize> {
        let mut at = self.all.iter().rposition(|link| !link.beside);
        let (mut cut, mut kept) = (None, Vec::new());
        while let Some(n) = at {
            let link = &self.all[n];
            if std::mem::replace(&mut on[n], true) {
                break;
            }
            if let Some(first) = cut {
                kept.push(n);
                if link.id == first {
                    kept.clear();
                    break;
                }
            } else if link.cut.is_some() {
                cut = link.cut;
                if cut == Some(0) {
                    return Some(n);
                }
            }
            let before = || self.all[..n].iter().rposition(|link| !link.beside);
            let found = link.parent.and_then(|parent| rows.get(&parent).copied());
            at = found.or_else(|| link.reads_on.then(before).flatten());
        }
        // The entry that it claims to have kept is missing: then it kept nothing.
        for n in kept {
            on[n] = false;
        }
        None
    }

    /// Claude Code writes a message with several calls as several rows, and a result's parent is
    /// its call's row. Those without children are in the context all the same.
    fn siblings(&self, cut: Option<usize>, rows: &Rows, entries: &[Entry], on: &mut [bool]) {
        let messages: HashSet<u64> = self
            .all
            .iter()
            .zip(&*on)
            .filter(|(_, on)| **on)
            .map(|(link, _)| link.message)
            .collect();
        for n in cut.map_or(0, |n| n + 1)..self.all.len() {
            let link = &self.all[n];
            let message = link.message != 0 && messages.contains(&link.message);
            let parent = link.parent.and_then(|parent| rows.get(&parent)).copied();
            let result = entries[n].role == Role::Tool
                && parent.is_some_and(|p| on[p] && self.all[p].message != 0);
            on[n] |= !link.beside && (message || result);
        }
    }
}

/// The earlier rows that a compaction of Claude Code kept.
fn preserved(line: &[u8]) -> Option<Vec<u64>> {
    let kept = find(find(line, "compactMetadata")?, "preservedMessages")?;
    let (uuids, mut spans) = (find(kept, "uuids")?, Vec::new());
    items(uuids, &mut spans)?;
    Some(spans.iter().filter_map(|at| plain(at.slice(uuids))).map(hash).collect())
}
