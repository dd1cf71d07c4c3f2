//! What each row follows, in a file where rows are missing, twice, or left out.

use std::collections::HashMap;

use sessions::dialect::Kind;

use crate::ids::{self, Key};

/// A row, as far as the chain goes.
#[derive(Debug, Clone, Default)]
pub(super) struct Link {
    pub line: u64,
    /// Its id; a row without one is no part of the chain.
    pub id: Option<Box<str>>,
    pub parent: Option<Key>,
    pub kind: Kind,
    /// A subagent's row.
    pub is_beside: bool,
    /// Its thinking blocks.
    pub thinking: usize,
    /// Whether it has nothing but thinking.
    pub only_thinks: bool,
    /// Whether no client read it before.
    pub is_rescued: bool,
    /// Whether it is left out.
    pub is_gone: bool,
}

/// The rows of a session, in file order.
#[derive(Debug, Default)]
pub(super) struct Links {
    pub rows: Vec<Link>,
    known: HashMap<Key, usize>,
}

impl Links {
    /// Adds a row. Returns whether an earlier one has its id.
    pub fn push(&mut self, row: Link) -> bool {
        let at = self.rows.len();
        let key = row.id.as_deref().map(ids::key);
        self.rows.push(row);
        key.is_some_and(|key| *self.known.entry(key).or_insert(at) != at)
    }

    pub fn find(&self, id: &str) -> Option<usize> {
        self.known.get(&ids::key(id)).copied()
    }

    /// Whether a row follows one that is not in the file. Where a compaction begins, it may.
    pub fn dangles(&self, at: usize) -> bool {
        let row = &self.rows[at];
        let is_there = |parent: &Key| self.known.get(parent).is_some_and(|found| *found != at);
        let counts = row.id.is_some() && !row.is_beside && row.kind != Kind::Boundary;
        counts && row.parent.is_some_and(|parent| !is_there(&parent))
    }

    /// The row before in the file, for one that dangles.
    pub fn before(&self, at: usize) -> Option<usize> {
        let counts = |row: &Link| row.id.is_some() && !row.is_beside && !row.is_gone;
        self.rows[..at].iter().rposition(counts)
    }

    fn above(&self, at: usize) -> Option<usize> {
        if self.dangles(at) {
            return self.before(at);
        }
        self.known.get(&self.rows[at].parent?).copied()
    }

    /// The id of the row that this one follows from now on: itself if it stays, else the nearest
    /// one above that does.
    pub fn staying(&self, at: usize) -> Option<&str> {
        let mut next = Some(at);
        // A circle of parents would never end.
        for _ in 0..=self.rows.len() {
            let row = &self.rows[next?];
            if !row.is_gone {
                return row.id.as_deref();
            }
            next = self.above(next?);
        }
        None
    }

    /// Whether a row gets another parent.
    pub fn is_moved(&self, at: usize) -> bool {
        let row = &self.rows[at];
        let is_gone = || self.above(at).is_some_and(|above| self.rows[above].is_gone);
        row.id.is_some() && row.kind != Kind::Boundary && (self.dangles(at) || is_gone())
    }

    /// The id of a row's parent that stays.
    pub fn parent(&self, at: usize) -> Option<&str> {
        self.staying(self.above(at)?)
    }
}
